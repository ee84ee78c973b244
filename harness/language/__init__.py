"""The scenario language: *.scenario.yaml in, plans out, and every mistake with its line, column and one suggestion.

`load` a file, make its `plans`; `evaluate` and `condition_holds` compute a plan's formulas from the plan alone.
"""

from harness.formulas.evaluate import Evaluated, Formula, condition_holds, evaluate
from harness.formulas.named import NamedFormula
from harness.formulas.syntax import FormulaError
from harness.language.formulas_file import load_formulas
from harness.language.identity import identity
from harness.language.jsonschema import json_schema
from harness.language.loader import load, loads
from harness.language.plans import plans
from harness.language.scenario import Scenario
from harness.language.yaml.files import find
from harness.language.yaml.problems import Problem, Problems, Span
from harness.language.yaml.render import one_line, render, report

__all__ = [
    "Evaluated",
    "Formula",
    "FormulaError",
    "NamedFormula",
    "Problem",
    "Problems",
    "Scenario",
    "Span",
    "condition_holds",
    "evaluate",
    "find",
    "identity",
    "json_schema",
    "load",
    "load_formulas",
    "loads",
    "one_line",
    "plans",
    "render",
    "report",
]

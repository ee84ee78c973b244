"""Protects the measurement of verdicts under noise: formulas made wrong are wrong, what was judged is counted."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import noise
from harness.judging import judge

pytestmark = pytest.mark.ci

TIME = "probe.time_to_error"
RIGHT = "2*Net.ReadTimeout + 4*Net.DialTimeout + 3*Metadata.Retry.Backoff"


def test_a_formula_that_was_made_wrong_fails_a_run_that_the_right_one_passes(blackholed: Callable[[], Any]) -> None:
    story_builder = blackholed()
    story_builder.expect(TIME, "equals", RIGHT, within_relative=0.01, within_absolute=0.05)
    story_builder.expect(TIME, "at_most", RIGHT, within_absolute=0.05)
    plan, story = story_builder.plan(), story_builder.story()
    assert noise.has_time(plan)
    verdicts = {name: judge(noise.made_wrong(plan, text), story).verdict for name, text in noise.WRONG.items()}
    assert verdicts == {"right": "pass", "too high": "fail", "too low": "fail"}
    assert not noise.has_time(replace(plan, expectations=plan.expectations[1:]))


def kept(folder: Path, *tries: tuple[int, str, int, dict[str, str]]) -> Path:
    file = folder / "tries.jsonl"
    lines = [
        {
            "load": "cpu", "seed": seed, "run_id": run_id, "attempt": attempt, "verdicts": verdicts, "timed": True,
            "scenario": "by-hand", "parameters": {}, "late_s": 0.01, "reasons": ["8 s is above 7 s"],
        }
        for seed, run_id, attempt, verdicts in tries
    ]  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_the_last_try_of_each_variant_counts_and_a_wrong_failure_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kept(
        tmp_path,
        (1, "a", 1, {"right": "inconclusive", "too high": "fail", "too low": "inconclusive"}),
        (1, "a", 2, {"right": "pass", "too low": "fail"}),
        (1, "b", 1, {"right": "pass", "too high": "pass", "too low": "fail"}),
    )
    assert noise.main(["--runs", "0", "--load", "cpu", "--out", str(file)]) == 1
    said = capsys.readouterr().out
    assert "2 runs, 3 tries" in said
    assert "0 wrong failures" in said
    assert "0.00% inconclusive" in said
    assert "50.00% of 2 found too high" in said
    assert "100.00% of 2 found too low" in said
    file = kept(tmp_path, (2, "a", 1, {"right": "fail", "too high": "fail", "too low": "fail"}))
    assert noise.main(["--runs", "0", "--load", "cpu", "--out", str(file)]) == 1
    said = capsys.readouterr().out
    assert "1 wrong failures" in said
    assert "by-hand {}: 8 s is above 7 s" in said

"""Protects the one definition of the run format: Spark's schemas follow the record models, field by field."""

import json
from typing import Any

import pytest
from pydantic import BaseModel
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, BooleanType, DoubleType, LongType, StringType, StructType

from bench.inputs.synthetic_suite import SyntheticBlackhole
from harness.records.event import EventRecord
from harness.records.run import RunRecord
from reports.ingest.schemas import is_model, item_of, schema_of, text, without_none


def every_field(model: type[BaseModel], schema: StructType, where: str) -> list[tuple[str, Any, Any]]:
    """(path, annotation, Spark type) of every field, nested ones too."""
    found = []
    for name, field in model.model_fields.items():
        annotation, kind = without_none(field.annotation), schema[name].dataType
        found.append((f"{where}.{name}", annotation, kind))
        inner = item_of(annotation) or annotation
        if is_model(inner):
            found += every_field(inner, kind.elementType if isinstance(kind, ArrayType) else kind, f"{where}.{name}")
    return found


FIELDS = [
    one for model in (RunRecord, EventRecord) for one in every_field(model, schema_of(model), model.__name__)
]  # fmt: skip


@pytest.mark.parametrize(("path", "annotation", "kind"), FIELDS, ids=[path for path, _, _ in FIELDS])
def test_every_field_has_the_type_of_its_annotation(path: str, annotation: Any, kind: Any) -> None:
    twins = {str: StringType, int: LongType, float: DoubleType, bool: BooleanType}
    if item_of(annotation) is not None:
        assert isinstance(kind, ArrayType)
        kind, annotation = kind.elementType, item_of(annotation)
    if is_model(annotation):
        assert isinstance(kind, StructType)
        assert kind.fieldNames() == list(annotation.model_fields)
    else:
        assert isinstance(kind, twins.get(annotation, StringType)), path


@pytest.mark.parametrize("model", [RunRecord, EventRecord])
def test_columns_are_the_fields_in_their_order(model: type[BaseModel]) -> None:
    assert schema_of(model).fieldNames() == list(model.model_fields)


def test_a_type_without_a_twin_is_refused_by_name() -> None:
    class Odd(BaseModel):
        when: dict[str, int]

    with pytest.raises(TypeError, match=r"Odd\.when"):
        schema_of(Odd)


def test_sql_text_cannot_end_early() -> None:
    assert text("it's a \\ mark") == r"'it\'s a \\ mark'"


def written_fields(model: type[BaseModel], row: dict[str, Any]) -> dict[str, Any]:
    """The row without nulls that stand for a default: what a record leaves out is null in Spark."""
    kept = {}
    for name, field in model.model_fields.items():
        value, item = row[name], item_of(without_none(field.annotation))
        if value is None and not field.is_required():
            continue
        nested = isinstance(value, list) and is_model(item)
        kept[name] = [written_fields(item, one) for one in value] if nested else value
    return kept


@pytest.mark.spark
def test_spark_reads_back_what_the_models_wrote(spark: SparkSession, tmp_path: Any) -> None:
    run, events = SyntheticBlackhole(brokers=2, bootstrap=2).run(1)
    for model, records in ((RunRecord, [run]), (EventRecord, events)):
        file = tmp_path / f"{model.__name__}.jsonl"
        file.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")
        read = spark.read.schema(schema_of(model)).json(str(file))
        back = [model.model_validate(written_fields(model, row.asDict(recursive=True))) for row in read.collect()]
        assert [json.loads(one.model_dump_json()) for one in back] == [json.loads(r.model_dump_json()) for r in records]

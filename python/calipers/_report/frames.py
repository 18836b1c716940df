"""A report's values as tables and arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers._errors import UsageError
from calipers._extras import library

_LABELS = {"segmentation": "class", "training": "group", "explanation": "type", "robustness": "condition"}
"""What the labels of a family are called."""


def array(value: Any, *, matrix: bool) -> npt.NDArray[Any]:
    """Return a value as whole numbers or doubles; a matrix of classes has one column more than rows."""
    if isinstance(value, Mapping):
        value = list(value.values())
    with_gaps = json.loads(json.dumps(value), parse_constant=float)
    whole = np.array(with_gaps, dtype=object)
    is_whole = whole.size > 0 and all(isinstance(one, int) for one in whole.ravel())
    made: npt.NDArray[Any] = whole.astype(np.int64 if is_whole else np.float64)
    if matrix:
        # C x (C + 1) numbers.
        side = int(np.sqrt(made.size))
        made = made.reshape(side, side + 1)
    return made


def per_class(family: str, values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the metrics that have a number for each label of the family."""
    tables = {id: value for id, value in values.items() if isinstance(value, dict)}
    # Under attack a number stands below its condition, not the other way round.
    if family == "robustness":
        tables = _turned(tables)
    plain = {id: table for id, table in tables.items() if all(map(_is_number, table.values()))}
    if family not in _LABELS or not plain:
        raise UsageError(f"no number of the report is one for each class\n    found: a report of {family}")
    labels = list(
        max(plain.values(), key=lambda table: len(list(table)))
        if family == "explanation"
        else next(iter(plain.values()))
    )
    columns: dict[str, list[Any]] = {_LABELS[family]: labels}
    for id, table in plain.items():
        if set(table) <= set(labels) and (family == "explanation" or list(table) == labels):
            columns[id] = [table.get(label) for label in labels]
    return columns


def _turned(tables: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    turned: dict[str, dict[str, Any]] = {}
    for id, by_condition in tables.items():
        for condition, value in by_condition.items():
            for inner, number in value.items() if isinstance(value, dict) else [(id, value)]:
                turned.setdefault(inner, {})[condition] = number
    return turned


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def per_unit(columns: list[str], lines: str) -> dict[str, list[Any]]:
    """Return the table of units by column, from its rows as JSON."""
    rows = [json.loads(line) for line in lines.splitlines()]
    return {column: [row.get(column) for row in rows] for column in columns}


def numbers(values: Mapping[str, Any], undefined: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return a row for every number: its id, its value, and why it has none."""
    ids: list[str] = []
    found: list[float | None] = []
    reasons: list[str | None] = []

    def visit(path: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                visit(f"{path}.{key}", inner)
        elif isinstance(value, list):
            for position, inner in enumerate(value):
                visit(f"{path}.{position}", inner)
        else:
            ids.append(path)
            found.append(None if value is None else float(value))
            reasons.append(undefined.get(path))

    for id, value in values.items():
        visit(id, value)
    return {"id": ids, "value": found, "reason": reasons}


def frame(columns: dict[str, list[Any]], kind: str) -> Any:
    """Return the columns as what was asked for."""
    if kind == "dict":
        return columns
    if kind == "pandas":
        pd = library("pandas", "a data frame of pandas")

        typed = {name: pd.array(column, dtype=_pandas(column)) for name, column in columns.items()}
        return pd.DataFrame(typed)
    if kind == "polars":
        pl = library("polars", "a data frame of polars")

        schema = {name: getattr(pl, _type(column)) for name, column in columns.items()}
        return pl.DataFrame(columns, schema=schema, strict=False)
    raise UsageError(f"no such frame\n       at: frame\n    found: {kind}\n  allowed: pandas, polars, dict")


def _type(column: list[Any]) -> str:
    there = [value for value in column if value is not None]
    if there and all(isinstance(value, bool) for value in there):
        return "Boolean"
    if there and all(isinstance(value, int) for value in there):
        return "Int64"
    if any(isinstance(value, str) for value in there):
        return "String"
    return "Float64" if all(isinstance(value, int | float) for value in there) else "Object"


def _pandas(column: list[Any]) -> Any:
    kind = _type(column)
    # Text columns are plain objects, as pandas makes them from lists.
    return {"Boolean": "boolean", "Int64": "Int64", "Float64": "Float64"}.get(kind, object)

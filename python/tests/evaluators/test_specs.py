"""The worked examples, run through the package."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers as cp

SPEC = Path(__file__).parents[3] / "spec"


def block(path: Path, title: str) -> Any:
    found = re.search(rf"```json {title}\n(.*?)```", path.read_text(), re.DOTALL)
    assert found is not None, f"{path} has no block {title}"
    return json.loads(found[1])


def at(report: cp.Report, path: str) -> Any:
    if path in report:
        return report[path]
    id, _, key = path.partition(".")
    return report[id][key]


def agrees(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(agrees(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if found is None or expected is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=2e-6, abs_tol=2e-6)


def compare(report: cp.Report, path: Path) -> None:
    expect = block(path, "expect")
    for id, expected in expect["metrics"].items():
        assert agrees(at(report, id), expected), (id, at(report, id), expected)
    family = report.protocol["name"]
    for id, reason in expect["undefined"].items():
        assert report.undefined[f"{family}.{id}"] == reason
    assert {warning["code"]: warning["units"] for warning in report.warnings} == expect["warnings"]


@pytest.mark.parametrize("path", sorted(SPEC.glob("independent_set/*.md")), ids=lambda path: path.stem)
def test_independent_sets_come_out_as_written(path: Path) -> None:
    given = block(path, "input")
    first = given["units"][0]
    acc = cp.independent_set.Evaluator(first["kind"], axis=first.get("axis"), **given.get("params", {}))
    for unit in given["units"]:
        scores = np.array(unit["scores"], dtype=np.float64)
        acc.update(
            unit["unit"],
            edge_index=np.array(unit["edge_index"], dtype=np.int64).reshape(2, -1),
            labels=None if unit.get("labels") is None else np.array(unit["labels"], dtype=np.int64),
            optimum=unit.get("optimum"),
            num_nodes=unit["n"],
            **{unit["kind"]: scores},
        )
    compare(acc.report(), path)


@pytest.mark.parametrize("path", sorted(SPEC.glob("segmentation/*.md")), ids=lambda path: path.stem)
def test_segmentations_come_out_as_written(path: Path) -> None:
    given = block(path, "input")
    # What a configuration says of files is said of every array.
    spacing = given["config"].pop("data", {}).get("spacing")
    acc = cp.segmentation.Evaluator(**given["config"])
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}.get(given.get("dtype", ""))
    for unit in given["units"]:
        if "confusion" in unit:
            acc.update_confusion(unit["id"], unit["confusion"])
            continue
        pred = {
            head: np.array(values, dtype=dtype) for head, values in unit["pred"].items() if values is not None
        }
        acc.update(unit["id"], truth=np.array(unit["truth"]), pred=pred, spacing=spacing)
    compare(acc.report(), path)

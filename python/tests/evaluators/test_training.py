"""Training runs from Python: the golden curves, and what the command line says of the same files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import calipers as cp

CASES = Path(__file__).parents[3] / "oracles/training/cases.json"
EXACT = 1e-12


def cases() -> list[dict]:
    return json.loads(CASES.read_text())["cases"]


def number(value: object) -> float:
    return float("nan" if value is None else value)  # type: ignore[arg-type]


def same(found: object, expected: object) -> bool:
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))
    return found is None if expected is None else found == pytest.approx(expected, rel=EXACT, abs=0)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_golden_curves_give_their_numbers(case: dict) -> None:
    parameters = {key: value for key, value in case["protocol"].items() if key != "metric"}
    acc = cp.training.Evaluator(case["protocol"]["metric"], **parameters)
    for run in case["runs"]:
        logged = [(i, v) for i, v in enumerate(run["values"]) if v is not None]
        x = run.get("x") or list(range(len(run["values"])))
        values = np.array([number(v) for _, v in logged])
        acc.update("ignored", values, [x[i] for i, _ in logged], group=run["group"], fold=run["fold"])
    report = acc.report()
    assert report.units == case["expect"]["units"]
    for metric, expected in case["expect"]["metrics"].items():
        found = report[metric]
        assert set(found) == set(expected), metric
        for group, value in expected.items():
            assert same(found[group], value), (metric, group, found[group], value)


def test_a_name_says_group_and_fold() -> None:
    acc = cp.training.Evaluator(threshold=0.5)
    acc.update("a/b/0", [0.1, 0.9])
    acc.update("alone", [0.9])
    table = acc.per_unit()
    assert table["unit"] == ["a/b/0", "all/alone"]
    assert table["group"] == ["a/b", "all"]
    with pytest.raises(cp.DuplicateError):
        acc.update("x", [1.0], group="a/b", fold="0")


@pytest.mark.parametrize("values", [[], [[0.1]], np.zeros((2, 2))])
def test_what_is_no_curve_is_refused(values: object) -> None:
    with pytest.raises(cp.CalipersError, match="run all/0"):
        cp.training.Evaluator().update("0", values)  # type: ignore[arg-type]


def test_wrong_settings_are_usage_errors() -> None:
    for wrong in ({"preset": "none"}, {"scale": 0.0}, {"sustain": 0}):
        with pytest.raises(cp.UsageError):
            cp.training.Evaluator(**wrong)  # type: ignore[arg-type]


def test_metrics_equal_those_of_the_command_line(tmp_path: Path) -> None:
    values = [0.5, 0.91, 0.95, 0.89, 0.96]
    lines = ["epoch,val_F1", *(f"{epoch},{value}" for epoch, value in enumerate(values))]
    (tmp_path / "0.csv").write_text("\n".join(lines) + "\n")
    argv = [sys.executable, "-m", "calipers", "training", "0.csv", "--metric", "val_F1", "--json", "-"]
    said = json.loads(subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True).stdout)
    acc = cp.training.Evaluator("val_F1")
    acc.update("0", values)
    assert json.loads(acc.report().to_json())["metrics"] == said["metrics"]


def test_a_value_meets_the_threshold_in_the_precision_of_its_array() -> None:
    logged = np.array([0.95, 0.9], dtype=np.float32)
    broken = {}
    for precision in ("stored", "double"):
        acc = cp.training.Evaluator(precision=precision)  # type: ignore[arg-type]
        acc.update("0", logged)
        broken[precision] = acc.per_unit()["broken"]
    assert broken == {"stored": [0], "double": [1]}

"""Functions of a run's name sort runs as rules do."""

import pathlib
from typing import Any

import pytest

import calipers as cp


@pytest.fixture
def logs(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Write four runs of two configurations, and go there."""
    monkeypatch.chdir(tmp_path)
    for run, values in (
        ("big_0", [0.1, 0.95]),
        ("big_1", [0.93]),
        ("small_0", [0.2, 0.4, 0.92]),
        ("small_1", [0.3]),
    ):
        rows = "".join(f"{epoch},{value}\n" for epoch, value in enumerate(values))
        (tmp_path / f"{run}.csv").write_text("epoch,F1\n" + rows)
    return tmp_path


def evaluated(**options: Any) -> cp.training.Evaluator:
    made = cp.training.evaluate(".", metric="F1", **options)
    assert isinstance(made, cp.training.Evaluator)
    return made


def test_functions_give_the_numbers_of_the_rule(logs: pathlib.Path) -> None:
    called: list[str] = []

    def group(name: str) -> str:
        called.append(name)
        return name.rpartition("_")[0]

    by_rule = evaluated(group_by="suffix").report()
    by_call = evaluated(group_by=group, fold_by=lambda name: name.rpartition("_")[2]).report()
    assert {**by_call} == {**by_rule}
    assert (by_call.protocol["group_by"], by_call.protocol["fold_by"]) == ("callable", "callable")
    assert set(called) == {"big_0", "big_1", "small_0", "small_1"}
    mixed = evaluated(group_by=group).report()
    assert mixed["velocity_wise"] == by_rule["velocity_wise"]


def test_shards_sorted_by_a_function_merge(logs: pathlib.Path) -> None:
    def group(name: str) -> str:
        return name[:3]

    parts = [evaluated(group_by=group, shard=f"{number}/2") for number in (1, 2)]
    assert cp.merge(parts).report().to_json() == evaluated(group_by=group).report().to_json()


def test_what_a_function_said_cannot_be_verified(logs: pathlib.Path) -> None:
    evaluated(group_by=lambda name: name[:3]).report().to_json(logs / "report.json")
    with pytest.raises(cp.CalipersError, match="sorted by a function") as caught:
        cp.verify(logs / "report.json")
    assert "group_by" in str(caught.value)


def test_what_a_function_does_wrong_is_told(logs: pathlib.Path) -> None:
    def broken(name: str) -> str:
        raise RuntimeError(f"no {name}")

    with pytest.raises(RuntimeError, match=r"no (big|small)_[01]"):
        evaluated(group_by=broken)
    with pytest.raises(cp.InputTypeError, match="fold_by") as caught:
        evaluated(fold_by=lambda name: 3)
    assert "found: int" in str(caught.value)
    with pytest.raises(cp.InputError, match=r"run (big|small)_[01]") as caught_too:
        evaluated(group_by=lambda name: "")
    assert "group_by" in str(caught_too.value)
    with pytest.raises(cp.InputTypeError, match="threshold"):
        evaluated(threshold=lambda name: "0.9")

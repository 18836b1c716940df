"""Runs that are resumed, divided or given what cannot be read, from Python."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import calipers as cp


@pytest.fixture
def graphs(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "val"
    folder.mkdir()
    for unit in range(5):
        logits = [1.0 + unit, -1.0]
        np.savez(folder / f"g{unit}.npz", edge_index=[[0, 1], [1, 0]], logits=logits, labels=[1, 0])
    return folder


def test_units_are_names_or_a_file_of_them(graphs: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "names.txt").write_text("g1\ng3\n")
    by_file = cp.independent_set.evaluate(graphs, units=tmp_path / "names.txt")
    assert cp.independent_set.evaluate(graphs, units=["g3", "g1"]) == by_file
    assert len(by_file) == 2
    with pytest.raises(cp.InputError, match="g9"):
        cp.independent_set.evaluate(graphs, units=["g9"])
    with pytest.raises(cp.InputTypeError, match="units"):
        cp.independent_set.evaluate(graphs, units={"g1": 1})


def test_a_unit_that_cannot_be_read_is_left_out(graphs: pathlib.Path) -> None:
    whole = cp.independent_set.evaluate(graphs)
    (graphs / "g9.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(cp.CalipersError, match="g9"):
        cp.independent_set.evaluate(graphs)
    report = cp.independent_set.evaluate(graphs, keep_going=True).report()
    assert [entry["unit"] for entry in report.left_out] == ["g9"]
    assert dict(report) == dict(whole.report())
    assert whole.report().left_out == []


def test_the_same_call_goes_on(graphs: pathlib.Path, tmp_path: pathlib.Path) -> None:
    whole = cp.independent_set.evaluate(graphs)
    for _ in range(2):
        assert cp.independent_set.evaluate(graphs, resume=tmp_path / "parts") == whole
    assert (tmp_path / "parts" / "manifest.jsonl").read_text().count("\n") == 2
    with pytest.raises(cp.ProtocolMismatchError, match="another run") as caught:
        cp.independent_set.evaluate(graphs, resume=tmp_path / "parts", seed=3)
    assert "--" not in str(caught.value)


def test_a_shard_is_reported_on_only_where_that_is_wanted(graphs: pathlib.Path) -> None:
    one, two = (cp.independent_set.evaluate(graphs, shard=f"{shard}/2") for shard in (1, 2))
    with pytest.raises(cp.InputError, match="partial=True") as caught:
        one.report()
    assert "--" not in str(caught.value)
    assert [warning["code"] for warning in one.report(partial=True).warnings][-1] == "missing-shards"
    one.merge(two)
    assert one == cp.independent_set.evaluate(graphs)
    assert one.report() == cp.independent_set.evaluate(graphs).report()

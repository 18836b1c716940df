"""Evaluators merge in any order, travel as bytes, and count nothing twice."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers as cp

UNITS = [f"graph {i}" for i in range(6)]


def graph(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 8, size=(2, 10))
    edges = np.concatenate([pairs, pairs[::-1]], axis=1)
    return {"edge_index": edges, "logits": rng.normal(size=8), "labels": rng.integers(0, 2, size=8)}


def graphs(names: list[str]) -> cp.independent_set.Evaluator:
    acc = cp.independent_set.Evaluator(decoders=["swap"])
    for name in names:
        acc.update(name, **graph(int(name.split()[1])))
    return acc


def images(names: list[str]) -> cp.segmentation.Evaluator:
    acc = cp.segmentation.Evaluator(labels={"original": 3, "ignore": [255]}, measure="all")
    for name in names:
        rng = np.random.default_rng(int(name.split()[1]))
        acc.update(
            name, truth=rng.integers(0, 3, size=(5, 7)), pred=rng.normal(size=(3, 5, 7)), kind="logits"
        )
    return acc


@pytest.mark.parametrize("make", [graphs, images])
@settings(max_examples=25, deadline=None)
@given(parts=st.lists(st.sets(st.sampled_from(UNITS)), min_size=1, max_size=4))
def test_any_split_in_any_order_is_the_whole(make: Any, parts: list[set[str]]) -> None:
    whole = make(sorted(set().union(*parts)))
    merged = make([])
    for part in parts:
        merged.merge(make(sorted(part)))
    if len(whole):
        assert merged.to_bytes() == whole.to_bytes()
        assert merged.report().to_json() == whole.report().to_json()


@pytest.mark.parametrize("make", [graphs, images])
def test_copies_pickles_and_bytes_are_equal_and_independent(make: Any) -> None:
    acc = make(UNITS[:2])
    more = make(UNITS[2:3])
    unpickled = pickle.loads(pickle.dumps(acc))
    for twin in (copy.copy(acc), copy.deepcopy(acc), unpickled, type(acc).from_bytes(acc.to_bytes())):
        assert twin == acc
        assert type(twin) is type(acc)
        twin.merge(more)
        assert (len(twin), len(acc)) == (3, 2)
    assert repr(acc).endswith("Evaluator, 2 units>")


def test_an_evaluator_merges_with_itself() -> None:
    acc = graphs(UNITS)
    before = acc.to_bytes()
    acc.merge(acc)
    assert acc.to_bytes() == before


def test_a_batch_is_its_graphs() -> None:
    one, batch = cp.independent_set.Evaluator(), cp.independent_set.Evaluator()
    given = [graph(i) for i in range(3)]
    for i, arrays in enumerate(given):
        one.update(f"g{i}", **arrays)
    packed = {key: np.concatenate([arrays[key] for arrays in given]) for key in ("logits", "labels")}
    edges = np.concatenate([arrays["edge_index"] + 8 * i for i, arrays in enumerate(given)], axis=1)
    batch.update_batch(["g0", "g1", "g2"], edge_index=edges, ptr=[0, 8, 16, 24], **packed)
    assert batch == one
    by_node = cp.independent_set.Evaluator()
    by_node.update_batch(["g0", "g1", "g2"], edge_index=edges, batch=np.repeat([0, 1, 2], 8), **packed)
    assert by_node == one


def test_a_failing_batch_leaves_nothing_behind() -> None:
    acc = graphs(["graph 0"])
    arrays = graph(1)
    with pytest.raises(cp.DuplicateError, match="graph 0"):
        acc.update_batch(["new", "graph 0"], ptr=[0, 8, 8], **arrays)
    assert len(acc) == 1


def test_a_name_counts_once() -> None:
    acc = graphs(["graph 0"])
    with pytest.raises(cp.DuplicateError, match="'graph 0' occurs twice") as caught:
        acc.update("graph 0", **graph(0))
    assert isinstance(caught.value, ValueError)


def test_conflicts_and_other_protocols_are_told_apart() -> None:
    acc = graphs(["graph 0"])
    other = cp.independent_set.Evaluator(decoders=["swap"])
    other.update("graph 0", **graph(5))
    with pytest.raises(cp.ConflictError, match="graph 0"):
        acc.merge(other)
    with pytest.raises(cp.ProtocolMismatchError, match="pos_weight"):
        acc.merge(cp.independent_set.Evaluator(decoders=["swap"], pos_weight="pooled"))
    with pytest.raises(cp.ProtocolMismatchError, match="families"):
        acc.merge(images(["image 0"]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="int"):
        acc.merge(3)  # type: ignore[arg-type]


def test_damaged_bytes_are_refused() -> None:
    data = bytearray(graphs(["graph 0"]).to_bytes())
    with pytest.raises(cp.UsageError, match="another family"):
        cp.segmentation.Evaluator.from_bytes(bytes(data))
    data[40] ^= 1
    with pytest.raises(cp.FormatError, match="damaged"):
        cp.independent_set.Evaluator.from_bytes(bytes(data))


def test_the_kind_may_be_said_with_the_first_update_but_not_changed() -> None:
    acc = images(["image 0"])
    with pytest.raises(cp.UsageError, match="logits"):
        acc.update("image 1", truth=[[0]], pred=[[0]], kind="labels")
    assert acc.report().protocol["heads"][0]["kind"] == "logits"


def test_copies_keep_what_is_no_part_of_the_state() -> None:
    strict = copy.deepcopy(cp.independent_set.Evaluator(self_loops="error"))
    with pytest.raises(cp.InputError, match="self loop"):
        strict.update("g", edge_index=[[0], [0]], logits=[1.0])
    undecided = pickle.loads(pickle.dumps(cp.segmentation.Evaluator(labels={"original": 2})))
    undecided.update("i", truth=[[0]], pred=[[[1.0]], [[0.5]]], kind="logits")
    assert undecided.report()["miou"] == 1.0


def test_the_per_unit_table_has_a_row_for_every_unit() -> None:
    table = graphs(UNITS).per_unit()
    assert table["unit"] == UNITS
    assert all(len(column) == len(UNITS) for column in table.values())
    assert list(table)[:3] == ["unit", "nodes", "edges"]

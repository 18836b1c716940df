"""A batch is its units: all of them, or none."""

import copy
from typing import Any

import numpy as np
import pytest

import calipers as cp

RNG = np.random.default_rng(3)
TRUTH = RNG.integers(0, 3, (4, 5, 6), dtype=np.uint8)
PRED = RNG.integers(0, 3, (4, 5, 6), dtype=np.uint8)
LOGITS = RNG.normal(size=(4, 3, 5, 6)).astype(np.float32)
NAMES = ["a", "b", "c", "d"]


def singly(pred: Any, **kind: Any) -> cp.segmentation.Evaluator:
    acc = cp.segmentation.Evaluator(3, measure="all")
    for unit, name in enumerate(NAMES):
        acc.update(name, truth=TRUTH[unit], pred=pred[unit], **kind)
    return acc


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("pred", "kind"), [(PRED, {}), (LOGITS, {"kind": "logits"}), (list(LOGITS), {"kind": "logits"})]
)
def test_images_at_once_are_the_bytes_of_single_ones(pred: Any, kind: Any, threads: int) -> None:
    acc = cp.segmentation.Evaluator(3, measure="all")
    acc.update_batch(NAMES, truth=TRUTH, pred=pred, threads=threads, **kind)
    assert acc.to_bytes() == singly(pred, **kind).to_bytes()


def test_images_of_a_list_may_differ_in_size() -> None:
    sizes = [(2, 3), (4, 1), (1, 1)]
    truth = [np.zeros(size, np.int64) for size in sizes]
    acc = cp.segmentation.Evaluator(2)
    acc.update_batch(["x", "y", "z"], truth=truth, pred=[map.tolist() for map in truth])
    assert acc.report().array("confusion").sum() == 6 + 4 + 1


def test_heads_come_by_name() -> None:
    heads = [{"name": "flat", "kind": "logits"}]
    one, batch = (cp.segmentation.Evaluator(3, heads=heads) for _ in range(2))
    for unit, name in enumerate(NAMES):
        one.update(name, truth=TRUTH[unit], pred={"flat": LOGITS[unit]})
    batch.update_batch(NAMES, truth=TRUTH, pred={"flat": LOGITS})
    assert batch == one


def test_other_families_take_lists() -> None:
    curves = [[0.1, 0.95], [0.2, 0.3, 0.97]]
    one, batch = (cp.training.Evaluator() for _ in range(2))
    for fold, curve in enumerate(curves):
        one.update(f"cfg/{fold}", curve)
    batch.update_batch(["cfg/0", "cfg/1"], values=curves, x=None)
    assert batch == one
    by_group = cp.training.Evaluator()
    by_group.update_batch(["p", "q"], values=curves, group=["cfg", "cfg"], fold=["0", "1"])
    assert by_group == one

    masks: dict[str, list[Any]] = {"pred_mask": [[0.9, 0.1], [0.2]], "target_mask": [[1, 0], None]}
    singles, together = (cp.explanation.Evaluator() for _ in range(2))
    for unit, name in enumerate("ab"):
        singles.update(name, **{key: of[unit] for key, of in masks.items()})
    together.update_batch(["a", "b"], **masks)
    assert together == singles

    runs: dict[str, Any] = {
        "clean": RNG.normal(size=(2, 3, 2)),
        "attacked": {0.1: RNG.normal(size=(2, 3, 2))},
    }
    alone, both = (cp.robustness.Evaluator() for _ in range(2))
    for unit, name in enumerate("ab"):
        alone.update(name, clean=runs["clean"][unit], attacked={0.1: runs["attacked"][0.1][unit]})
    both.update_batch(["a", "b"], **runs)
    assert both == alone


@pytest.mark.parametrize("threads", [1, 2])
def test_a_wrong_image_is_named_and_nothing_changes(threads: int) -> None:
    acc = cp.segmentation.Evaluator(3)
    acc.update("before", truth=[[0]], pred=[[0]])
    before = acc.to_bytes()
    wrong = TRUTH.copy()
    wrong[2, 1, 4] = 9
    with pytest.raises(cp.InputError, match=r"unit c(.|\n)*9") as caught:
        acc.update_batch(NAMES, truth=wrong, pred=PRED, threads=threads)
    with pytest.raises(cp.InputError) as single:
        copy.copy(acc).update("c", truth=wrong[2], pred=PRED[2])
    assert str(caught.value) == str(single.value)
    for names in (["a", "b", "c", "before"], ["a", "b", "c", "a"]):
        with pytest.raises(cp.DuplicateError):
            acc.update_batch(names, truth=TRUTH, pred=PRED, threads=threads)
    assert acc.to_bytes() == before


def test_a_failing_call_says_no_kind() -> None:
    acc = cp.segmentation.Evaluator(3)
    for update in (
        lambda: acc.update_batch(["a"], truth=TRUTH[:1], pred=LOGITS[:1, :2], kind="logits"),
        lambda: acc.update("a", truth=TRUTH[0], pred=LOGITS[0, :2], kind="logits"),
    ):
        with pytest.raises(cp.InputError):
            update()
    acc.update("a", truth=TRUTH[0], pred=PRED[0])
    assert acc.report().protocol["heads"][0]["kind"] == "labels"


def test_numbers_of_names_and_arrays_agree() -> None:
    acc = cp.segmentation.Evaluator(3)
    with pytest.raises(cp.InputError, match="names has 1, truth 4"):
        acc.update_batch(["a"], truth=TRUTH, pred=PRED)
    with pytest.raises(cp.InputError, match="names has 4, pred 1"):
        acc.update_batch(NAMES, truth=list(TRUTH), pred=[PRED[0]])
    with pytest.raises(cp.InputError, match="names has 1, values 2"):
        cp.training.Evaluator().update_batch(["a"], values=[[1.0], [2.0]])
    with pytest.raises(cp.InputTypeError, match="names"):
        acc.update_batch("abcd", truth=TRUTH, pred=PRED)
    acc.update_batch([], truth=TRUTH[:0], pred=PRED[:0])
    acc.update_batch([], truth=[], pred=[])
    assert len(acc) == 0

"""What holds for every call: arrays of any kind, reprs of one line, copies, and undefined numbers."""

import array
import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers import compat

EDGE = [[0, 1], [1, 0]]
LOGITS = np.array([0.5, -1.0])


class Lent:
    """An array of a library that only speaks DLPack."""

    def __init__(self, held: Any) -> None:
        self._held = held

    def __dlpack__(self, **options: Any) -> Any:
        return self._held.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._held.__dlpack_device__()


def read_only(values: Any) -> Any:
    values = values.copy()
    values.flags.writeable = False
    return values


ARRAYS: dict[str, Callable[[], Any]] = {
    "f64": lambda: LOGITS,
    "f32": lambda: LOGITS.astype(np.float32),
    "f16": lambda: LOGITS.astype(np.float16),
    "big-endian": lambda: LOGITS.astype(">f8"),
    "strided": lambda: np.repeat(LOGITS, 2)[::2],
    "backwards": lambda: LOGITS[::-1].copy()[::-1],
    "read-only": lambda: read_only(LOGITS),
    "list": lambda: list(LOGITS),
    "tuple": lambda: tuple(LOGITS),
    "buffer": lambda: memoryview(LOGITS),
    "array": lambda: array.array("d", LOGITS),
    "DLPack": lambda: Lent(LOGITS),
    "DLPack, read-only": lambda: Lent(read_only(LOGITS)),
    "unmasked": lambda: np.ma.array(LOGITS, mask=[False, False]),
    "pandas": lambda: pytest.importorskip("pandas").Series(LOGITS),
    "polars": lambda: pytest.importorskip("polars").Series(LOGITS),
    "bf16": lambda: pytest.importorskip("torch").tensor(LOGITS).bfloat16(),
    "with gradient": lambda: pytest.importorskip("torch").tensor(LOGITS, requires_grad=True),
    "torch, strided": lambda: pytest.importorskip("torch").tensor(np.repeat(LOGITS, 2))[::2],
    "DLPack, bf16": lambda: Lent(pytest.importorskip("torch").tensor(LOGITS).bfloat16()),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_an_array_of_any_kind_is_the_same_numbers(kind: str) -> None:
    losses = cp.independent_set.loss_and_grad(LOGITS, EDGE, [1, 0])
    acc = cp.independent_set.Evaluator()
    acc.update("edge", edge_index=EDGE, logits=ARRAYS[kind](), labels=[1, 0])
    assert acc.report()["loss_bce"] == losses.loss_bce


def test_lists_without_elements_are_empty_arrays_of_the_type_that_is_needed() -> None:
    assert cp.independent_set.greedy_decode([], [[], []]).tolist() == []
    assert cp.independent_set.min_degree([[], []], 0).tolist() == []
    assert cp.independent_set.q_hat([], []) is None
    assert set(cp.explanation.fidelity([], y_sub=[], y=[])) == {None}
    assert set(cp.explanation.agreement([], [])) == {None}
    assert cp.robustness.robust_accuracy([[1.0, 2.0]], [0], []) is None
    assert tuple(cp.robustness.edge_feature_diff([[1.0]], [[], []])) == (None, None, None)
    assert cp.robustness.bias_curve([[1.0]], {}) == {}
    acc = cp.segmentation.Evaluator(2)
    acc.update_batch([], truth=[], pred=[])
    assert len(acc) == 0


def test_single_values_and_masked_elements_are_refused_as_what_they_are() -> None:
    acc = cp.independent_set.Evaluator()
    with pytest.raises(cp.InputError, match="logits"):
        acc.update("a", edge_index=EDGE, logits=np.float64(0.5))
    with pytest.raises(cp.InputTypeError, match="masked"):
        acc.update("a", edge_index=EDGE, logits=np.ma.array(LOGITS, mask=[True, False]))
    with pytest.raises(cp.InputTypeError, match="complex"):
        acc.update("a", edge_index=EDGE, logits=LOGITS + 1j)
    assert len(acc) == 0


def measured() -> cp.training.Evaluator:
    acc = cp.training.Evaluator()
    acc.update("cfg/0", [0.5, 0.95])
    return acc


def things() -> list[Any]:
    other = cp.training.Evaluator()
    other.update("cfg/0", [0.2, 0.3])
    model = cp.rung.train("synthetic", splits="stratified:1", penalty="l1", weights="exact", epochs=1)
    evaluators = [
        cp.segmentation.Evaluator(2, kind="logits"), cp.independent_set.Evaluator(self_loops="error"),
        cp.explanation.Evaluator(), cp.robustness.Evaluator(), measured(),
    ]  # fmt: skip
    return [
        *evaluators, measured().report(), cp.compare({"a": measured(), "b": other}), model,
        cp.metrics()[0], cp.explain("miou"), compat.differences()[0],
        cp.robustness.estimation_bias([[1.0]] * 99, [[2.0]] * 99),
        cp.robustness.edge_feature_diff([[0.0], [1.0], [5.0]], [[0, 1, 1, 2], [1, 0, 2, 1]]),
        cp.explanation.fidelity([0, 1], y_sub=[0, 0]), cp.explanation.agreement([0.1, 0.9, 0.3], [0, 1, 1]),
        cp.independent_set.loss_and_grad([0.0] * 99, [[], []], [1] * 99),
        cp.segmentation.Fit({"h": 1.0}, {"h": 1.0}, 0.1, 0.1, None, None, "[labels]\n" * 99),
        cp.rung.Reproduction([], [], __import__("pathlib").Path("out")),
        *cp.segmentation.boundary_counts([[0, 0, 1]], [[0, 1, 0]], classes=2, background=0).values(),
    ]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def test_everything_public_travels_and_has_a_repr_of_one_line() -> None:
    for thing in things():
        for copied in (pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)):
            assert type(copied) is type(thing)
            assert same(copied, thing), thing
        if not isinstance(thing, cp.Report | cp.Comparison):
            assert len(repr(thing)) <= 100, repr(thing)
            assert "\n" not in repr(thing)


def test_a_comparison_that_was_sent_says_what_it_said() -> None:
    other = cp.training.Evaluator()
    other.update("cfg/0", [0.2, 0.3])
    here = cp.compare({"a": measured(), "b": other})
    there = pickle.loads(pickle.dumps(here))
    for form in ("to_json", "to_csv", "to_markdown", "to_latex", "to_html"):
        assert getattr(there, form)() == getattr(here, form)()
    assert dict(there) == dict(here)


def test_what_has_no_number_is_none_with_a_reason() -> None:
    found = cp.robustness.edge_feature_diff([[0.0], [1.0]], EDGE)
    assert found.hist_values is None
    assert set(found.undefined) == {"hist_values", "bin_edges"}
    assert cp.segmentation.miou([[255]], [[255]], classes=2, ignore=255) is None

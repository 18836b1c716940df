"""Arrays of every make mean the same numbers, and plain ones are not copied."""

import array

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers as cp
from calipers._calipers import address
from calipers.independent_set import greedy_decode

PATH = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
SCORES = np.array([0.5, 0.25, 0.75])
CHOSEN = [True, False, True]


class OnlyDlpack:
    """A tensor of a library that this package has never heard of."""

    def __init__(self, values: npt.NDArray[np.float64]) -> None:
        self.values = values

    def __dlpack__(self, **options: object) -> object:
        return self.values.__dlpack__(**options)  # type: ignore[arg-type]

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("dtype", ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"])
def test_contiguous_arrays_are_read_where_they_lie(dtype: str) -> None:
    values = np.zeros((3, 5), dtype=dtype)
    assert address(values) == values.ctypes.data
    values.flags.writeable = False
    assert address(values) == values.ctypes.data
    assert address(values[1:]) == values.ctypes.data + 5 * values.itemsize


def test_foreign_tensors_and_buffers_are_read_where_they_lie() -> None:
    values = np.arange(6.0)
    assert address(OnlyDlpack(values)) == values.ctypes.data
    buffer = array.array("d", [1.0, 2.0])
    assert address(buffer) == buffer.buffer_info()[0]
    assert address(memoryview(values)) == values.ctypes.data


@pytest.mark.parametrize(
    "scores",
    [
        SCORES[::-1].copy()[::-1],
        np.repeat(SCORES, 2)[::2],
        SCORES.astype(">f8"),
        SCORES.astype("<f4"),
        SCORES.astype(np.float16),
        array.array("d", SCORES),
        memoryview(SCORES),
        list(SCORES),
        tuple(SCORES),
        OnlyDlpack(SCORES),
        (SCORES * 4).astype(">i2"),
        np.ma.array(SCORES),
    ],
    ids=lambda scores: type(scores).__name__,
)
def test_scores_of_any_make_decode_alike(scores: object) -> None:
    assert greedy_decode(scores, PATH).tolist() == CHOSEN


@pytest.mark.parametrize(
    "edges", [np.asfortranarray(PATH), PATH[:, ::-1], PATH.astype(">i4"), PATH.T.copy().T, PATH.tolist()]
)
def test_edges_in_any_order_of_memory_are_the_same_graph(edges: object) -> None:
    assert greedy_decode(SCORES, edges).tolist() == CHOSEN


@given(st.lists(st.floats(-1e3, 1e3, width=16), min_size=1, max_size=20), st.integers(1, 3))
def test_strided_and_widened_views_decode_as_their_copies_do(values: list[float], step: int) -> None:
    edges = np.array([[i, i + 1] for i in range(len(values) - 1)], dtype=np.int64).reshape(-1, 2).T
    expected = greedy_decode(np.array(values), edges)
    wide = np.zeros(len(values) * step, dtype=np.float16)
    wide[::step] = values
    assert (greedy_decode(wide[::step], edges) == expected).all()


def test_masked_elements_are_not_read_as_if_they_were_there() -> None:
    with pytest.raises(cp.InputTypeError, match="masked"):
        greedy_decode(np.ma.array(SCORES, mask=[1, 0, 0]), PATH)


def test_a_graph_without_edges_may_be_written_as_empty_lists() -> None:
    assert greedy_decode([0.5, 0.25], [[], []]).all()


def test_a_single_value_has_no_axis() -> None:
    acc = cp.independent_set.Evaluator()
    acc.update("g", edge_index=PATH, logits=SCORES, labels=[1, 0, 1], optimum=np.array(2))
    with pytest.raises(cp.InputError, match="one-dimensional"):
        greedy_decode(np.array(1.0), PATH)


@pytest.mark.parametrize(
    "scores", [SCORES.astype(complex), np.array(["a"]), np.array([object()]), [[1], [1, 2]], {1: 2}]
)
def test_what_holds_no_numbers_is_a_type_error_that_names_the_argument(scores: object) -> None:
    with pytest.raises(TypeError, match="'scores'") as caught:
        greedy_decode(scores, PATH)
    assert isinstance(caught.value, cp.CalipersError)

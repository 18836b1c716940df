"""Calls a model of graphs on whatever arrays there are, and leaves no trace in it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers._errors import InputError, InputTypeError
from calipers._extras import library
from calipers._inputs.arrays import plain
from calipers._inputs.graphs import edges, is_sparse_tensor

Numbers = npt.NDArray[np.float64]


def features(model: Any, A: Any, X: Any, device: Any) -> Numbers:
    """Return what the model aggregates, or what it returns where it does not say what that is."""
    return _called(getattr(model, "get_aggregated_features", model), model, A, X, device)


def class_scores(model: Any, A: Any, X: Any, device: Any) -> Numbers:
    """Return what the model returns."""
    return _called(model, model, A, X, device)


def edge_index(A: Any) -> npt.NDArray[np.int64]:
    """Return both directions of every edge, the entries that are not 0; refuse loops and one-way edges."""
    found = _matrix_entries(A)
    loops = found[0] == found[1]
    if loops.any():
        node = int(found[0, loops.argmax()])
        raise InputError(f"`A` has a loop\n       at: A[{node}, {node}]\n  allowed: 0 on the diagonal")
    nodes = int(found.max(initial=0)) + 1
    # One number for each entry: they are compared with those of their reverses.
    there = np.unique(found[0] * nodes + found[1])
    lonely = np.setdiff1d(there, found[1] * nodes + found[0])
    if lonely.size:
        i, j = divmod(int(lonely[0]), nodes)
        raise InputError(
            f"`A` is not symmetric\n       at: A[{j}, {i}]\n    found: 0, and A[{i}, {j}] is not\n"
            "     help: give both directions of every edge"
        )
    return np.stack(np.divmod(there, nodes))


def simple_edges(A: Any) -> tuple[npt.NDArray[np.int64], int | None]:
    """Return the edges of a graph whose entries are all 0 or 1, and its nodes where it says how many."""
    found = edge_index(A)
    if _is_dense(A):
        values = _widened(A)
    elif is_sparse_tensor(A):
        values = _widened(A.detach().cpu().to_sparse_coo().coalesce().values())
    else:
        values = np.asarray(A.tocoo().data) if hasattr(A, "tocoo") else np.ones(1)
    other = (values != 0) & (values != 1)
    if other.any():
        raise InputError(
            f"`A` has an entry that is neither 0 nor 1\n       at: A\n    found: {values[other][0]}\n"
            "  allowed: a graph without weights"
        )
    return found, len(A) if _is_dense(A) else edges(A, "A").num_nodes


def _widened(values: Any) -> npt.NDArray[Any]:
    array, bfloat16 = plain(values, "A")
    # The upper half of a single-precision number.
    return (array.astype(np.uint32) << 16).view(np.float32) if bfloat16 else array


def _matrix_entries(A: Any) -> npt.NDArray[np.int64]:
    if _is_dense(A):
        values, bfloat16 = plain(A, "A")
        # The sign bit of a bfloat16 is no value.
        entries = np.nonzero(values & 0x7FFF if bfloat16 else values)
        return np.stack(entries).astype(np.int64)
    found = plain(edges(A, "A").edge_index, "A")[0]
    if found.ndim != 2 or found.shape[0] != 2 or found.dtype.kind not in "iu":
        raise InputError(
            f"`A` is no graph\n       at: A\n    found: {found.dtype} {list(found.shape)}\n"
            "  allowed: a matrix [N, N], dense or sparse, or edge_index [2, E] of whole numbers"
        )
    return found.astype(np.int64)


def _is_dense(A: Any) -> bool:
    """Tell a matrix from a list of edges, which are whole numbers in two rows."""
    if is_sparse_tensor(A):
        return False
    shape: Any = np.shape(A) if isinstance(A, list | tuple) else getattr(A, "shape", None)
    if shape is None or hasattr(A, "tocoo"):
        return False
    return len(shape) == 2 and shape[0] == shape[1]


def _called(function: Callable[..., Any], model: Any, A: Any, X: Any, device: Any) -> Numbers:
    torch = library("torch", "a model of graphs")
    if not callable(function):
        raise InputTypeError(
            f"`model` cannot be called\n       at: model\n    found: {type(model).__name__}\n"
            "  allowed: a torch module, or a function of A and X"
        )
    first = next(iter(model.parameters()), None) if isinstance(model, torch.nn.Module) else None
    if device is None:
        device = torch.device("cpu") if first is None else first.device
    dtype = first.dtype if first is not None and first.is_floating_point() else None
    given = _tensor(torch, X, dtype, "X").to(device)
    if not given.ndim:
        raise InputError(
            "`X` has no rows\n       at: X\n    found: a single value\n  allowed: a row per node"
        )
    graph = _graph(torch, A, given).to(device)
    with _without_a_trace(torch, model, torch.device(device)), torch.no_grad():
        returned = function(graph, given)
    return _checked(torch, returned, int(given.shape[0]))


@contextmanager
def _without_a_trace(torch: Any, model: Any, device: Any) -> Iterator[None]:
    """Evaluate, then put back the mode of every part and the state of every generator."""
    parts = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    modes = [(part, part.training) for part in parts]
    of_python, of_numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        try:
            for part in parts[:1]:
                part.eval()
            yield
        finally:
            for part, training in modes:
                part.training = training
            random.setstate(of_python)
            np.random.set_state(of_numpy)


def _tensor(torch: Any, values: Any, dtype: Any, argument: str) -> Any:
    """Return a tensor as it is; an array becomes one of the model's precision."""
    if isinstance(values, torch.Tensor):
        return values
    if hasattr(values, "tocoo"):
        return _from_scipy(torch, values, dtype)
    array, bfloat16 = plain(values, argument)
    # Torch warns about memory that it must not write to.
    array = array if array.flags.writeable else array.copy()
    tensor = torch.from_numpy(array)
    if bfloat16:
        tensor = tensor.view(torch.bfloat16)
    return tensor if dtype is None else tensor.to(dtype)


def _graph(torch: Any, A: Any, X: Any) -> Any:
    """Return the graph in the form given; matrices that are no tensors take the type of the features."""
    if isinstance(A, torch.Tensor):
        return A
    dtype = X.dtype if X.is_floating_point() else None
    if hasattr(A, "tocoo"):
        return _from_scipy(torch, A, dtype)
    if _is_dense(A):
        return _tensor(torch, A, dtype, "A")
    found = edges(A, "A").edge_index
    return _tensor(torch, found, torch.int64, "A")


def _from_scipy(torch: Any, matrix: Any, dtype: Any) -> Any:
    entries = matrix.tocoo()
    places = np.stack(entries.coords if hasattr(entries, "coords") else (entries.row, entries.col))
    made = torch.sparse_coo_tensor(
        torch.from_numpy(places.astype(np.int64)), torch.from_numpy(entries.data.copy()), matrix.shape
    ).coalesce()
    return made if dtype is None else made.to(dtype)


def _checked(torch: Any, returned: Any, nodes: int) -> Numbers:
    values: Numbers | None
    if isinstance(returned, torch.Tensor):
        returned = returned.detach().to_dense() if is_sparse_tensor(returned) else returned.detach()
        whole_or_float = not returned.is_complex()
        shape = tuple(returned.shape)
        returned = returned.cpu()
        # Widening is exact, and NumPy has no bfloat16.
        values = returned.double().numpy() if whole_or_float else None
    elif isinstance(returned, np.ndarray):
        shape = returned.shape
        values = returned.astype(np.float64) if returned.dtype.kind in "buif" else None
    else:
        raise InputTypeError(
            f"`model` returned no array\n       at: model\n    found: {type(returned).__name__}\n"
            "  allowed: one tensor or array [N, C]"
        )
    if values is None:
        raise InputTypeError(
            f"`model` returned no real numbers\n       at: model\n    found: {returned.dtype}\n"
            "  allowed: one tensor or array [N, C] of floats"
        )
    if len(shape) != 2 or shape[0] != nodes:
        raise InputError(
            "`model` returned an array of another shape\n       at: model\n"
            f"    found: {shape}\n  allowed: ({nodes}, C), one row per row of `X`"
        )
    if not np.isfinite(values).all():
        node, column = (int(place) for place in np.argwhere(~np.isfinite(values))[0])
        raise InputError(
            f"`model` returned a number that is not finite\n       at: model, [{node}, {column}]\n"
            f"    found: {values[node, column]}\n  allowed: finite numbers"
        )
    return values

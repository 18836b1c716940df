"""Graphs as people have them: `edge_index`, networkx, PyG, SciPy and torch sparse; each becomes edges.

Nothing is imported here but NumPy: whoever has a graph of a library has imported that library.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from calipers._errors import InputError, InputTypeError, UsageError
from calipers._inputs.arguments import whole as whole_number
from calipers._inputs.arrays import ArrayLike

Graph = Any
"""`edge_index` [2, M], or a graph of networkx, PyG (`Data`, `Batch`), SciPy sparse or torch sparse."""

_ALLOWED = "edge_index [2, M], networkx, PyG Data or Batch, a SciPy or torch sparse matrix"


class Edges(NamedTuple):
    """Directed entries [2, M], and what else the graph says."""

    edge_index: ArrayLike
    num_nodes: int | None = None
    """As many as the graph has; `None` where only edges are known."""
    ptr: ArrayLike | None = None
    """Where the graphs of a packed batch begin."""


def edges(graph: Graph, argument: str = "edge_index") -> Edges:
    """Return the edges of a graph; `argument` names it in messages."""
    if type(graph) in (list, tuple) and len(graph) == 2 and np.ndim(graph[0]) == 1 and len(graph[0]) != 2:
        # The usual lists are not gone through twice.
        return Edges(graph)
    if type(graph) in (np.ndarray, list, tuple):
        return Edges(_either_way(graph, argument))
    library = _library(graph)
    if library == "networkx":
        return _of_networkx(graph)
    if library == "torch_geometric":
        return _of_pyg(graph, argument)
    if library == "scipy":
        return _of_scipy(graph, argument)
    if library == "torch" and is_sparse_tensor(graph):
        return _of_torch(graph, argument)
    return Edges(_either_way(graph, argument))


def counted(
    graph: Graph, num_nodes: int | None, argument: str = "edge_index"
) -> tuple[ArrayLike, int | None]:
    """Return the edges and the number of nodes: the one given, else the graph's own, never a smaller one."""
    found = edges(graph, argument)
    if num_nodes is None:
        return found.edge_index, found.num_nodes
    num_nodes = whole_number("num_nodes", num_nodes, 0)
    if found.num_nodes is not None and num_nodes < found.num_nodes:
        raise InputError(
            f"`num_nodes` is smaller than the graph\n       at: num_nodes\n    found: {num_nodes}\n"
            f"  allowed: {found.num_nodes} or more"
        )
    return found.edge_index, num_nodes


def on_nodes(graph: Graph, values: ArrayLike, name: str) -> ArrayLike:
    """Return the edges of a graph of which each node has one of these values."""
    found = edges(graph)
    if found.num_nodes is not None and found.num_nodes != len(values):
        raise InputError(
            f"`{name}` has one value per node\n       at: {name}\n    found: {len(values)}\n"
            f"  allowed: {found.num_nodes}, the nodes of `edge_index`"
        )
    return found.edge_index


def whole(graph: Graph, num_nodes: int | None) -> tuple[ArrayLike, int]:
    """Return the edges and the number of nodes, which the graph or the caller says."""
    found, nodes = counted(graph, num_nodes)
    if nodes is None:
        raise UsageError(
            "how many nodes there are is not said\n       at: num_nodes\n  allowed: a number, or a graph of "
            "networkx, SciPy, torch or PyG, which says it"
        )
    return found, nodes


def is_sparse_tensor(value: Any) -> bool:
    """Return whether this is a sparse tensor of torch."""
    return str(getattr(value, "layout", "")).startswith("torch.sparse")


def _library(graph: Any) -> str:
    """Name the library that a class, or one it derives from, belongs to."""
    for base in type(graph).__mro__:
        package = base.__module__.partition(".")[0]
        if package in ("networkx", "scipy", "torch", "torch_geometric"):
            return package
    return ""


def _of_networkx(graph: Any) -> Edges:
    number = {node: place for place, node in enumerate(graph)}
    pairs = [(number[u], number[v]) for u, v in graph.edges()]
    stored = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    if not graph.is_directed():
        # A loop has one direction.
        proper = stored[:, stored[0] != stored[1]]
        stored = np.concatenate([stored, proper[::-1]], axis=1)
    return Edges(np.ascontiguousarray(stored), len(number))


def _of_pyg(graph: Any, argument: str) -> Edges:
    if hasattr(graph, "edge_types"):
        raise InputTypeError(
            f"`{argument}` is a graph of several kinds of nodes\n       at: {argument}\n"
            f"    found: {type(graph).__name__}\n  allowed: {_ALLOWED}\n"
            "     help: data.to_homogeneous(), or one edge type: data[kind].edge_index"
        )
    stored = getattr(graph, "edge_index", None)
    transposed = getattr(graph, "adj_t", None)
    if stored is None and is_sparse_tensor(transposed):
        found = _of_torch(transposed, argument)
        stored = found.edge_index[::-1]
    if stored is None:
        raise InputError(
            f"`{argument}` has no edges\n       at: {argument}\n"
            f"    found: {type(graph).__name__} without edge_index\n  allowed: {_ALLOWED}"
        )
    return Edges(stored, _nodes(graph), getattr(graph, "ptr", None))


def _nodes(graph: Any) -> int | None:
    with warnings.catch_warnings():
        # PyG warns when it has to guess the number; what it guesses is then not taken.
        warnings.simplefilter("error")
        try:
            count = graph.num_nodes
        except UserWarning:
            return None
    return None if count is None else int(count)


def _of_scipy(graph: Any, argument: str) -> Edges:
    if not hasattr(graph, "tocoo"):
        raise InputTypeError(
            f"`{argument}` is no graph\n       at: {argument}\n    found: {type(graph).__name__}\n"
            f"  allowed: {_ALLOWED}"
        )
    nodes = _square(graph.shape, argument)
    entries = graph.tocoo()
    row, column = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    kept = entries.data != 0
    return Edges(np.stack([row[kept], column[kept]]).astype(np.int64), nodes)


def _of_torch(graph: Any, argument: str) -> Edges:
    nodes = _square(graph.shape, argument)
    entries = graph.detach().cpu().to_sparse_coo().coalesce()
    return Edges(entries.indices()[:, entries.values() != 0].numpy(), nodes)


def _square(shape: Any, argument: str) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"`{argument}` is a matrix that is not square\n       at: {argument}\n"
            f"    found: shape {tuple(shape)}\n  allowed: [N, N]"
        )
    return int(shape[0])


def _either_way(graph: ArrayLike, argument: str) -> ArrayLike:
    """Return [2, M]; one row per edge is turned. Whatever else is wrong is told by whoever reads it."""
    rows = isinstance(graph, list | tuple) and _rows_alike(graph)
    shape: Any = np.shape(graph) if rows else getattr(graph, "shape", None)
    if shape is None or len(shape) != 2:
        return graph
    if shape[0] == 2:
        if shape[1] == 2:
            _warn_of_two(graph, argument)
        return graph
    if shape[1] == 2:
        return np.asarray(graph).T if isinstance(graph, list | tuple) else graph.T
    if shape[0] == shape[1]:
        raise InputError(
            f"`{argument}` is a square matrix\n       at: {argument}\n    found: shape {tuple(shape)}\n"
            f"  allowed: {_ALLOWED}\n     help: scipy.sparse.coo_array(A), or numpy.nonzero(A) stacked"
        )
    return graph


def _rows_alike(rows: Any) -> bool:
    lengths = {len(row) if isinstance(row, list | tuple | np.ndarray) else -1 for row in rows}
    return len(lengths) == 1 and -1 not in lengths


def _warn_of_two(graph: ArrayLike, argument: str) -> None:
    """Say how two rows of two were read, unless both readings are the same edges."""
    (a, b), (c, d) = ([int(end) for end in row] for row in graph)
    if b != c and {frozenset((a, c)), frozenset((b, d))} != {frozenset((a, b)), frozenset((c, d))}:
        warnings.warn(
            f"`{argument}` of shape (2, 2) is read as [2, M], the edges {a}-{c} and {b}-{d}; "
            f"for {a}-{b} and {c}-{d} give its transpose",
            UserWarning,
            stacklevel=4,
        )

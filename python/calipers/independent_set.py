"""Predicted independent sets of graphs.

A graph is an `edge_index` of shape [2, M], both directions of an edge listed, as PyG stores it. A networkx
graph, a PyG `Data` or `Batch`, and a sparse matrix of SciPy or torch are taken in its place.

>>> import calipers as cp
>>> path = [[0, 1, 1, 2], [1, 0, 2, 1]]
>>> cp.independent_set.greedy_decode([0.9, 0.2, 0.8], path)
array([ True, False,  True])
>>> cp.independent_set.upper_bound(path, num_nodes=3)
2
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from calipers import _calipers
from calipers._errors import InputError
from calipers._evaluator import EvaluatorBase
from calipers._extras import library
from calipers._inputs import files, graphs
from calipers._inputs.arguments import called, flag, names_of, number, text, whole, word, words, wrong_type
from calipers._inputs.arrays import ArrayLike, plain
from calipers._inputs.graphs import Graph
from calipers._inputs.paths import Path
from calipers._report.short import short

if TYPE_CHECKING:
    import torch

__all__ = [
    "Evaluator",
    "LossAndGrad",
    "Losses",
    "evaluate",
    "greedy_decode",
    "is_independent",
    "loss",
    "loss_and_grad",
    "losses",
    "min_degree",
    "q_hat",
    "swap_search",
    "upper_bound",
]

Preset = Literal["strict", "document", "trm-mis-head"]
PosWeight = Literal["graph", "pooled"] | float
Decoder = Literal["score-degree", "swap", "ils"]
Baseline = Literal["min-degree", "low-degree", "high-degree", "high-degree-cut", "index", "random", "none"]


class Evaluator(EvaluatorBase):
    """Measures graphs with their scores, labels and known optima.

    Numbers of several graphs are means over the graphs where they are defined. Under the presets `document`
    and `trm-mis-head` a graph without a label 1 adds a gap of 0 to the mean.

    >>> acc = Evaluator(scores="probs", feasibility_weight=0.5)
    >>> path = [[0, 1, 1, 2], [1, 0, 2, 1]]
    >>> acc.update("path", edge_index=path, probs=[0.75, 0.875, 0.625], labels=[1, 0, 1])
    >>> acc.report()["gap_ratio"]
    0.5
    """

    family = "independent_set"
    _beside = ("_self_loops",)

    def __init__(
        self,
        scores: Literal["logits", "probs", "set"] | None = "logits",
        *,
        preset: Preset = "strict",
        axis: Literal["samples", "steps"] | None = None,
        pos_weight: PosWeight | None = None,
        feasibility_weight: float = 0.0,
        reference: Literal["auto", "labels", "optimum"] | None = None,
        reference_mean: float | None = None,
        baseline: Baseline = "min-degree",
        certificate: Literal["on", "off"] = "on",
        decoders: Sequence[Decoder] = (),
        ils_iterations: int = 20_000,
        seed: int = 0,
        complement: bool = False,
        self_loops: Literal["drop", "error"] = "drop",
    ) -> None:
        """Choose what is measured; `scores=None` says that there are none.

        The options are those of the command line. `axis` says what the rows of two-dimensional scores are.
        """
        weight = (
            pos_weight
            if pos_weight is None or (isinstance(pos_weight, str) and pos_weight in ("graph", "pooled"))
            else number("pos_weight", pos_weight, 0)
        )
        options: dict[str, Any] = {
            "preset": word("preset", preset, get_args(Preset)),
            "scores": None if scores is None else word("scores", scores, ("logits", "probs", "set")),
            "axis": None if axis is None else word("axis", axis, ("samples", "steps")),
            "feasibility_weight": number("feasibility_weight", feasibility_weight),
            "reference_mean": None if reference_mean is None else number("reference_mean", reference_mean),
            "baseline": word("baseline", baseline, get_args(Baseline)),
            "certificate": word("certificate", certificate, ("on", "off")),
            "decoders": words("decoders", decoders, get_args(Decoder)),
            "ils_iterations": whole("ils_iterations", ils_iterations, 0, 2**64 - 1),
            "seed": whole("seed", seed, 0, 2**64 - 1),
            "complement": flag("complement", complement),
        }
        if weight is not None:
            options["pos_weight"] = weight
        if reference is not None:
            options["reference"] = word("reference", reference, ("auto", "labels", "optimum"))
        self._self_loops = word("self_loops", self_loops, ("drop", "error"))
        self._state = _calipers.independent_set_new(json.dumps(options))

    def _adopt(self, state: _calipers.State) -> None:
        super()._adopt(state)
        self._self_loops = "drop"

    def update(
        self,
        name: str,
        *,
        edge_index: Graph,
        logits: ArrayLike | None = None,
        probs: ArrayLike | None = None,
        set: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        optimum: int | None = None,
        num_nodes: int | None = None,
    ) -> None:
        """Measure one graph. A name that was measured before raises `DuplicateError`."""
        edge_index, num_nodes = graphs.counted(edge_index, num_nodes)
        arrays = _given(
            edge_index=edge_index, logits=logits, probs=probs, set=set, labels=labels, optimum=optimum,
            num_nodes=num_nodes,
        )  # fmt: skip
        _calipers.independent_set_update(self._state, [text("name", name)], arrays, self._self_loops)

    def update_batch(
        self,
        names: Sequence[str],
        *,
        edge_index: Graph,
        ptr: ArrayLike | None = None,
        batch: ArrayLike | None = None,
        logits: ArrayLike | None = None,
        probs: ArrayLike | None = None,
        set: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        optimum: ArrayLike | None = None,
    ) -> None:
        """Measure the graphs of a packed batch, cut at `ptr` or `batch`; all of them or, on an error, none.

        `optimum` has one number per graph, -1 where it is unknown. A PyG `Batch` as `edge_index` cuts
        itself.
        """
        given = names_of(names)
        graph = graphs.edges(edge_index)
        if ptr is None and batch is None:
            ptr = graph.ptr
        arrays = _given(
            edge_index=graph.edge_index, ptr=ptr, batch=batch, logits=logits, probs=probs, set=set,
            labels=labels, optimum=optimum, num_graphs=None if batch is None else len(given),
        )  # fmt: skip
        _calipers.independent_set_update(self._state, given, arrays, self._self_loops)


def evaluate(*inputs: Path, **options: Any) -> Evaluator:
    """Measure the graphs that files and folders hold, as `calipers independent-set` does with the same words.

    `inputs` are array files, folders of them, or one results.json beside `graph`. The options:

    * files: `graph`, `scores`, `labels`, `optimum`, `no_scores`, `scores_are`, `axis`, `graph_format`,
      `index_base`, `num_nodes`, `names`, `pair_strip`, `self_loops`, `complement`
    * measuring: `preset`, `pos_weight`, `feasibility_weight`, `reference`, `reference_mean`, `baseline`,
      `certificate`, `decoders`, `ils_iterations`, `seed`
    * work: `threads`, `memory`, `shard`, `units` (names), `keep_going`, `resume` (a folder), `strict`,
      `progress`
    * for the report: `bootstrap`, `confidence`, `interval`, `cluster_by`, `partial`

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edge.npz"
    >>> np.savez(path, edge_index=[[0, 1], [1, 0]], logits=[1.0, -1.0], labels=[1, 0])
    >>> evaluate(path).report()["accuracy"]
    1.0
    """
    return files.evaluate(Evaluator, inputs, options)[0]


def _given(**arrays: ArrayLike | None) -> dict[str, ArrayLike]:
    return {key: array for key, array in arrays.items() if array is not None}


def greedy_decode(scores: ArrayLike, edge_index: Graph) -> npt.NDArray[np.bool_]:
    """Take nodes by falling score, ties by number, unless a neighbour is taken: a maximal independent set."""
    return _calipers.independent_set_greedy_decode(scores, graphs.on_nodes(edge_index, scores, "scores"))


def min_degree(edge_index: Graph, num_nodes: int | None = None) -> npt.NDArray[np.bool_]:
    """Take the node of smallest residual degree, remove it with its neighbours, and repeat.

    `num_nodes` may be left out where the graph says it, as networkx, SciPy and PyG do.

    >>> min_degree([[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=3)
    array([ True, False,  True])
    """
    return _calipers.independent_set_min_degree(*graphs.whole(edge_index, num_nodes))


def swap_search(start: ArrayLike, edge_index: Graph) -> npt.NDArray[np.bool_]:
    """Replace one node of an independent set by two until that is no longer possible.

    >>> swap_search([0, 1, 0], [[0, 1, 1, 2], [1, 0, 2, 1]])
    array([ True, False,  True])
    """
    with called(set="start"):
        return _calipers.independent_set_swap_search(start, graphs.on_nodes(edge_index, start, "start"))


def upper_bound(edge_index: Graph, num_nodes: int | None = None) -> int:
    """Return a number that no independent set exceeds: the smallest of three greedy clique covers."""
    return _calipers.independent_set_upper_bound(*graphs.whole(edge_index, num_nodes))


def is_independent(set: ArrayLike, edge_index: Graph) -> bool:
    """Return whether no edge has both ends in the set.

    >>> is_independent([1, 1, 0], [[0, 1], [1, 0]])
    False
    """
    return _calipers.independent_set_is_independent(set, graphs.on_nodes(edge_index, set, "set"))


class LossAndGrad(NamedTuple):
    """The losses of a batch, and the derivative of the total loss by each logit."""

    loss_bce: float
    loss_feasibility: float
    loss_total: float
    grad: npt.NDArray[Any]

    def __repr__(self) -> str:
        return short(self)


def loss_and_grad(
    logits: ArrayLike,
    edge_index: Graph,
    labels: ArrayLike,
    ptr: ArrayLike | None = None,
    *,
    pos_weight: PosWeight = "graph",
    feasibility_weight: float = 0.0,
    preset: Preset = "strict",
) -> LossAndGrad:
    """Return the training losses and the gradient by the logits.

    Several graphs count the same: each loss is the mean of their values. The published presets take one mean
    over the nodes and entries of the batch.

    The gradient is computed in f64 and returned in the type of `logits` (f32 for bfloat16, which NumPy
    does not have). The published presets know the weights `pooled` and a number.

    >>> losses = loss_and_grad([0.0, 0.0], [[0, 1], [1, 0]], [1, 0], feasibility_weight=1.0)
    >>> losses.loss_feasibility, losses.grad
    (0.25, array([-0.125,  0.375]))
    """
    weighted = _weighted(pos_weight, feasibility_weight, preset)
    graph = graphs.edges(edge_index)
    arrays = _given(
        edge_index=graph.edge_index, logits=logits, labels=labels, ptr=graph.ptr if ptr is None else ptr
    )
    with called(scores="logits"):
        bce, feasibility, total, grad = _calipers.independent_set_loss_and_grad(
            arrays, json.dumps(weighted[0]), *weighted[1:]
        )
    dtype = str(getattr(logits, "dtype", "float64")).removeprefix("torch.").replace("bfloat16", "float32")
    return LossAndGrad(bce, feasibility, total, grad.astype(dtype, copy=False))


def _weighted(pos_weight: Any, feasibility_weight: Any, preset: Any) -> tuple[PosWeight, float, Preset]:
    """Check what a loss is told beside its arrays."""
    named = isinstance(pos_weight, str) and pos_weight in ("graph", "pooled")
    weight = pos_weight if named else number("pos_weight", pos_weight, 0)
    word("preset", preset, get_args(Preset))
    return weight, number("feasibility_weight", feasibility_weight), preset


def loss(
    logits: torch.Tensor,
    edge_index: Graph,
    labels: ArrayLike,
    ptr: ArrayLike | None = None,
    *,
    pos_weight: PosWeight = "graph",
    feasibility_weight: float = 0.0,
    preset: Preset = "strict",
) -> torch.Tensor:
    """Return the total loss as a tensor that `backward` works on; needs torch.

    Several graphs count the same: the loss is the mean of their losses, not one over all nodes.
    The gradient is the closed form of `loss_and_grad`; weights of labels count as constants.
    """
    function = library("calipers._torch", "independent_set.loss", "torch").IndependentSetLoss
    graph = graphs.edges(edge_index)
    cuts = graph.ptr if ptr is None else ptr
    tensor: torch.Tensor = function.apply(
        _tensor(logits), graph.edge_index, labels, cuts, *_weighted(pos_weight, feasibility_weight, preset)
    )
    return tensor


def _tensor(logits: Any) -> Any:
    if not hasattr(logits, "requires_grad"):
        raise wrong_type("logits", logits, "a tensor of torch")
    return logits


class Losses(NamedTuple):
    """The losses of a batch as tensors of one number; `backward` works on each."""

    total: torch.Tensor
    bce: torch.Tensor
    feasibility: torch.Tensor

    def __repr__(self) -> str:
        return short(self)


def losses(
    logits: torch.Tensor,
    edge_index: Graph,
    labels: ArrayLike,
    ptr: ArrayLike | None = None,
    *,
    pos_weight: PosWeight = "graph",
    feasibility_weight: float = 0.0,
    preset: Preset = "strict",
) -> Losses:
    """Return the total loss and its two parts; needs torch. The arguments are those of `loss`.

    >>> import torch
    >>> logits = torch.zeros(2, requires_grad=True)
    >>> found = losses(logits, [[0, 1], [1, 0]], [1, 0], feasibility_weight=1.0)
    >>> found.feasibility.item(), found.total.item() == (found.bce + found.feasibility).item()
    (0.25, True)
    """
    function = library("calipers._torch", "independent_set.losses", "torch").IndependentSetLosses
    graph = graphs.edges(edge_index)
    cuts = graph.ptr if ptr is None else ptr
    found = function.apply(
        _tensor(logits), graph.edge_index, labels, cuts, *_weighted(pos_weight, feasibility_weight, preset)
    )
    return Losses(*found)


def q_hat(scores: ArrayLike, labels: ArrayLike, *, kind: Literal["logits", "probs"] = "logits") -> Any:
    """Return how well the scores know the labels: a number for [N], an array [T] for [T, N].

    >>> q_hat([[0.0, 0.0], [50.0, -50.0]], [1, 0])
    array([0., 1.])
    """
    word("kind", kind, ("logits", "probs"))
    rows, _ = plain(scores, "scores")
    if rows.ndim not in (1, 2):
        raise InputError(
            "scores has another shape than it can have\n"
            f"    found: {list(rows.shape)}\n  allowed: [N] or [T, N]"
        )
    acc = Evaluator(kind, baseline="none", certificate="off")
    none = np.zeros((2, 0), np.int64)
    for step, row in enumerate(np.atleast_2d(rows)):
        arrays: dict[str, Any] = {kind: row, "labels": labels, "num_nodes": len(row)}
        acc.update(f"{step:012}", edge_index=none, **arrays)
    known = np.array(acc.per_unit()["q_hat"], dtype=np.float64)
    if rows.ndim == 2:
        return known
    return None if np.isnan(known[0]) else float(known[0])

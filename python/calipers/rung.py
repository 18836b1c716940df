"""The RUNG network, and the five functions of the bias document for any torch module or callable.

A model is called as `model(A, X)`. It computes by torch, on its own device; the numbers come from
`calipers.robustness`, exact and rounded once. *Features* are `model.get_aggregated_features(A, X)` where a
model has that, else `model(A, X)`. Class scores are always `model(A, X)`: a head behind the features decides.

`A` is a dense matrix [N, N], a sparse one of torch or SciPy, or `edge_index` [2, E] with both directions.

>>> import numpy as np
>>> path = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
>>> X = np.array([[1.0, 0], [0, 1], [1, 1]])
>>> compute_robust_accuracy(lambda A, X: A @ X, path, X, y=[1, 0, 1], test_idx=[0, 1, 2])
1.0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers import robustness
from calipers._errors import InputError, InputTypeError
from calipers._inputs.arguments import whole, wrong_type
from calipers._inputs.arrays import ArrayLike, plain
from calipers._rung.graph_models import class_scores, edge_index, features
from calipers._rung.model import Model, Reproduction, attack, forward, load, reproduce, train

__all__ = [
    "Model",
    "Reproduction",
    "attack",
    "compute_bias_curve",
    "compute_clean_and_attacked_accuracy",
    "compute_edge_feature_diff_distribution",
    "compute_estimation_bias",
    "compute_robust_accuracy",
    "forward",
    "load",
    "reproduce",
    "train",
]

Floats = npt.NDArray[np.float64]


def compute_estimation_bias(
    model: Any, A_clean: Any, X: Any, A_attacked: Any, device: Any = None, return_per_node: bool = False
) -> tuple[float, float] | tuple[float, float, Floats]:
    """Return the total bias, its mean over all nodes and, if asked for, that of every node.

    >>> compute_estimation_bias(lambda A, X: A @ X, [[0, 1], [1, 0]], [[1.0], [2.0]], [[0, 0], [0, 0]])
    (5.0, 2.5)
    """
    clean, attacked = (features(model, A, X, device) for A in (A_clean, A_attacked))
    total, mean, per_node = robustness.estimation_bias(clean, attacked)
    return (total, mean, per_node) if return_per_node else (total, mean)


def compute_bias_curve(
    model: Any, A_clean: Any, X: Any, attacked_graphs_by_budget: Mapping[Any, Any], device: Any = None
) -> dict[Any, dict[str, float]]:
    """Return `bias_total` and `bias_mean` for every budget.

    >>> compute_bias_curve(lambda A, X: A @ X, [[0, 1], [1, 0]], [[1.0], [2.0]], {0.5: [[0, 0], [0, 0]]})
    {0.5: {'bias_total': 5.0, 'bias_mean': 2.5}}
    """
    if not isinstance(attacked_graphs_by_budget, Mapping):
        name = "attacked_graphs_by_budget"
        raise wrong_type(name, attacked_graphs_by_budget, "a mapping from budgets to graphs")
    clean = features(model, A_clean, X, device)
    attacked = {budget: features(model, A, X, device) for budget, A in attacked_graphs_by_budget.items()}
    return robustness.bias_curve(clean, attacked)


def compute_edge_feature_diff_distribution(
    model: Any, A: Any, X: Any, device: Any = None, num_bins: int = 50
) -> tuple[Floats | None, Floats | None, float | None]:
    """Return densities, the edges of their bins, and the mean difference along the edges of `A`.

    Features of a node are divided by the square root of its degree plus one first.
    Where all differences are equal there is no histogram, and the first two are `None`; without an edge the
    mean is too.

    >>> compute_edge_feature_diff_distribution(lambda A, X: X, [[0, 1], [1, 0]], [[2.0], [2.0]])
    (None, None, 0.0)
    """
    found, graph = features(model, A, X, device), edge_index(A)
    acc = robustness.Evaluator(bins=whole("num_bins", num_bins, 1, 100_000))
    acc.update(
        "run", clean=found, attacked=found, budget="1", edge_index=graph, edge_index_attacked=graph
    )  # fmt: skip
    report = acc.report()
    values, ends, mean = (report[id] for id in ("hist_values", "bin_edges", "mean_diff"))
    histogram = (None, None) if values is None else (np.array(values), np.array(ends))
    return (*histogram, mean)


def compute_robust_accuracy(
    model: Any, A_attacked: Any, X: Any, y: ArrayLike, test_idx: ArrayLike, device: Any = None
) -> float | None:
    """Return the share of test nodes that the model classifies right on the attacked graph.

    `test_idx` are numbers of nodes, or a mask. `None` where nothing is tested or there is only one class.

    >>> compute_robust_accuracy(lambda A, X: X, [[0, 1], [1, 0]], [[2.0, 1], [0, 3]], [0, 0], [True, True])
    0.5
    """
    scores = class_scores(model, A_attacked, X, device)
    tested = np.asarray(plain(test_idx, "test_idx")[0])
    if tested.size == 0:
        tested = tested.astype(np.int64)
    labels = _labels(y, tested, scores.shape)
    acc = robustness.Evaluator()
    key = "test_mask" if tested.dtype.kind == "b" else "test_idx"
    acc.update("run", clean=scores, attacked=scores, budget="1", labels=labels, **{key: tested})  # type: ignore[arg-type]
    accuracy: float | None = acc.report()["robust_accuracy"]
    return accuracy


def compute_clean_and_attacked_accuracy(
    model: Any, A_clean: Any, A_attacked: Any, X: Any, y: ArrayLike, test_idx: ArrayLike, device: Any = None
) -> tuple[float | None, float | None]:
    """Return the accuracies on the clean and on the attacked graph.

    >>> edge, none = [[0, 1], [1, 0]], [[0, 0], [0, 0]]
    >>> compute_clean_and_attacked_accuracy(
    ...     lambda A, X: A @ X, edge, none, [[2.0, 1], [0, 3]], y=[1, 0], test_idx=[0, 1])
    (1.0, 0.5)
    """
    clean = compute_robust_accuracy(model, A_clean, X, y, test_idx, device)
    return clean, compute_robust_accuracy(model, A_attacked, X, y, test_idx, device)


def _labels(y: ArrayLike, tested: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Check what would otherwise be told of an array with another name."""
    labels = np.asarray(plain(y, "y")[0])
    if labels.dtype.kind not in "biu":
        raise InputTypeError(f"`y` holds no whole numbers\n       at: y\n    found: {labels.dtype}")
    nodes, classes = shape
    if labels.shape != (nodes,):
        raise InputError(
            f"`y` has one label per node\n       at: y\n    found: {labels.shape}\n  allowed: ({nodes},)"
        )
    if tested.ndim != 1 or tested.dtype.kind not in "biu":
        raise InputError(
            "`test_idx` names no nodes\n       at: test_idx\n"
            f"    found: {tested.dtype} {list(tested.shape)}\n"
            f"  allowed: numbers of nodes, or a mask [{nodes}]"
        )
    if tested.dtype.kind == "b":
        places = np.flatnonzero(tested) if tested.shape == (nodes,) else tested[:0]
    else:
        places = tested[(tested >= 0) & (tested < nodes)]
    wrong = (labels[places] < 0) | (labels[places] >= classes)
    if classes > 1 and wrong.any():
        node = int(places[wrong.argmax()])
        raise InputError(
            f"`y` holds a label that is no class of the model\n       at: y[{node}]\n"
            f"    found: {labels[node]}\n  allowed: 0 to {classes - 1}"
        )
    return labels

"""The five functions of the bias document, for any torch module with `get_aggregated_features(A, X)`.

Features are computed by torch, on the device that is given; the numbers come from `calipers.robustness`,
exact and rounded once. Adjacency matrices are dense, N x N, without a diagonal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers import robustness

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "compute_bias_curve",
    "compute_clean_and_attacked_accuracy",
    "compute_edge_feature_diff_distribution",
    "compute_estimation_bias",
    "compute_robust_accuracy",
]


def compute_estimation_bias(
    model: Any, A_clean: Tensor, X: Tensor, A_attacked: Tensor, device: Any, return_per_node: bool = False
) -> tuple[float, float] | tuple[float, float, npt.NDArray[np.float64]]:
    """Return the total bias, its mean over all nodes and, if asked for, that of every node."""
    clean, attacked = (_features(model, matrix, X, device) for matrix in (A_clean, A_attacked))
    total, mean, per_node = robustness.estimation_bias(clean, attacked)
    return (total, mean, per_node) if return_per_node else (total, mean)


def compute_bias_curve(
    model: Any, A_clean: Tensor, X: Tensor, attacked_graphs_by_budget: Mapping[Any, Tensor], device: Any
) -> dict[Any, dict[str, float]]:
    """Return `bias_total` and `bias_mean` for every budget."""
    clean = _features(model, A_clean, X, device)
    attacked = {
        budget: _features(model, matrix, X, device) for budget, matrix in attacked_graphs_by_budget.items()
    }
    return robustness.bias_curve(clean, attacked)


def compute_edge_feature_diff_distribution(
    model: Any, A: Tensor, X: Tensor, device: Any, num_bins: int = 50
) -> tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.float64] | None, float | None]:
    """Return densities, the edges of their bins, and the mean difference along the edges of `A`."""
    edge_index = np.stack(np.nonzero(A.detach().cpu().numpy())).astype(np.int64)
    values, ends, mean = robustness.edge_feature_diff(
        _features(model, A, X, device), edge_index, bins=num_bins
    )
    return values, ends, mean


def compute_robust_accuracy(
    model: Any, A_attacked: Tensor, X: Tensor, y: Tensor, test_idx: Tensor, device: Any
) -> float | None:
    """Return the share of test nodes that the model classifies right on the attacked graph."""
    scores = _features(model, A_attacked, X, device)
    return robustness.robust_accuracy(scores, y.detach().cpu().numpy(), test_idx.detach().cpu().numpy())


def compute_clean_and_attacked_accuracy(
    model: Any, A_clean: Tensor, A_attacked: Tensor, X: Tensor, y: Tensor, test_idx: Tensor, device: Any
) -> tuple[float | None, float | None]:
    """Return the accuracies on the clean and on the attacked graph."""
    clean = compute_robust_accuracy(model, A_clean, X, y, test_idx, device)
    return clean, compute_robust_accuracy(model, A_attacked, X, y, test_idx, device)


def _features(model: Any, matrix: Tensor, X: Tensor, device: Any) -> Any:
    """Compute aggregated features without gradients, in evaluation mode; every part's mode is put back."""
    import torch

    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            return model.get_aggregated_features(matrix.to(device), X.to(device)).detach().cpu().numpy()
    finally:
        for module, training in modes:
            module.training = training

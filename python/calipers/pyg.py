"""The five functions of `torch_geometric.explain.metric`, faster and with the same numbers.

    from calipers.pyg import characterization_score, fidelity, fidelity_curve_auc
    from calipers.pyg import groundtruth_metrics, unfaithfulness

Names, parameters, types, errors and warnings are those of the published code, and so are its defects: a
mask with one value outside [0, 1] is taken for logits, the divergence of `unfaithfulness` is reversed and
may be NaN, an area of one class is 0. `fidelity` and `unfaithfulness` take explanations of heterogeneous
graphs too, for which release 2.8.1 of the published code fails. The sound numbers are in
`calipers.explanation`, for which `evidence` and `options` gather what an explainer and an explanation hold.
Calling needs torch and nothing else.
"""

from __future__ import annotations

import operator
import sys
import warnings
from typing import TYPE_CHECKING, Any

from calipers import _calipers
from calipers._errors import InputError, UsageError
from calipers._pyg.errors import MaskError, NothingAskedError
from calipers._pyg.passes import evidence as evidence
from calipers._pyg.passes import fidelity, unfaithfulness
from calipers._pyg.passes import options as options
from calipers._pyg.tensors import plain, traced

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "characterization_score",
    "fidelity",
    "fidelity_curve_auc",
    "groundtruth_metrics",
    "unfaithfulness",
]

Agreement = tuple[float, float, float, float, float, int, int]
"""The five metrics, then how many elements are true and how many are not."""
_METRICS = ("accuracy", "recall", "precision", "f1_score", "auroc")


def characterization_score(
    pos_fidelity: Tensor,
    neg_fidelity: Tensor,
    pos_weight: float = 0.5,
    neg_weight: float = 0.5,
) -> Tensor:
    """Return the weighted harmonic mean of fid+ and 1 - fid-, element by element.

    The weights must sum to 1. Differentiable. Python floats give a float, NumPy arrays an array.
    """
    if pos_weight + neg_weight != 1.0:
        raise UsageError(f"The weights need to sum up to 1 (got {pos_weight} and {neg_weight})")
    torch = sys.modules.get("torch")
    if torch is not None and type(pos_weight) is float and not traced(torch):
        pos, neg = plain(torch, pos_fidelity), plain(torch, neg_fidelity)
        if pos is not None and neg is not None:
            scores = _calipers.pyg_characterization(pos, neg, pos_weight, neg_weight)
            if scores is not None:
                return torch.from_numpy(scores)
    return 1.0 / (pos_weight / pos_fidelity + neg_weight / (1.0 - neg_fidelity))


def fidelity_curve_auc(pos_fidelity: Tensor, neg_fidelity: Tensor, x: Tensor) -> Tensor:
    """Return the area under fid+ / (1 - fid-) over an ascending axis, by trapezoids. Differentiable."""
    import torch

    if not traced(torch):
        pos, neg, axis = plain(torch, pos_fidelity), plain(torch, neg_fidelity), plain(torch, x)
        if (
            pos is not None
            and neg is not None
            and axis is not None
            and pos.ndim == neg.ndim == axis.ndim == 1
        ):
            area = _calipers.pyg_curve_area(pos, neg, axis)
            if area is not None:
                return torch.from_numpy(area)
    if torch.any(neg_fidelity == 1):
        raise InputError("There exists negative fidelity values containing 1, leading to a division by zero")
    height = pos_fidelity / (1.0 - neg_fidelity)
    if torch.any(x.diff() < 0):
        raise InputError("'x' must be given in ascending order")
    return torch.trapezoid(height, x)


def groundtruth_metrics(
    pred_mask: Tensor,
    target_mask: Tensor,
    metrics: str | list[str] | None = None,
    threshold: float = 0.5,
) -> float | tuple[float, ...]:
    """Compare a mask with its truth: `pred_mask > threshold` against `target_mask >= threshold`.

    `metrics` names one or several of accuracy, recall, precision, f1_score and auroc (all of them). One
    gives a float, several a tuple in the order asked for. As in the published code 0/0 is 0, and a mask with
    any value outside [0, 1] is taken for logits.
    """
    if metrics is None:
        metrics = list(_METRICS)
    elif isinstance(metrics, str):
        metrics = [metrics]
    elif not isinstance(metrics, list | tuple):
        raise InputError(f"Expected metrics to be a string or a list of strings (got {type(metrics)})")
    pred, target = pred_mask.view(-1), target_mask.view(-1)
    # The published code compares before it looks at the threshold: what torch cannot compare is its error.
    if type(threshold) is not float:
        operator.ge(target, threshold)
    found: Agreement | None = None
    values = []
    for metric in metrics:
        if metric not in _METRICS:
            raise InputError(f"Encountered invalid metric {metric}")
        ranked = metric == "auroc"
        if not ranked and not (isinstance(threshold, float) and 0 <= threshold <= 1):
            raise InputError(
                f"Expected argument `threshold` to be a float in the [0,1] range, but got {threshold}."
            )
        if found is None:
            found = _agreement(pred, target, threshold, "auroc" in metrics)
        if found is None or ranked:
            _check(pred, target, ranked)
        if found is None:
            found = _agreement_by_torch(pred, target, threshold)
        if ranked:
            _warn(found)
        values.append(found[_METRICS.index(metric)])
    if not values:
        raise NothingAskedError("list index out of range")
    return values[0] if len(values) == 1 else tuple(values)


def _agreement(pred: Any, target: Any, threshold: Any, ranked: bool) -> Agreement | None:
    """Measure plain masks of probabilities; others are left to torch."""
    import torch

    if type(threshold) is not float or traced(torch):
        return None
    values, truth = plain(torch, pred), plain(torch, target)
    if values is None or truth is None:
        return None
    return _calipers.pyg_agreement(values, truth, threshold, threshold, ranked, False)


def _check(pred: Any, target: Any, ranked: bool) -> None:
    """Refuse what the published code refuses, in its order and words."""
    if pred.shape != target.shape:
        raise MaskError(
            "Predictions and targets are expected to have the same shape, "
            f"but got {pred.shape} and {target.shape}."
        )
    if pred.is_floating_point():
        if ranked and not len(pred):
            raise NothingAskedError("index is out of bounds for dimension with size 0")
    elif ranked:
        raise InputError(
            "Expected argument `preds` to be an floating tensor with probability/logit scores, "
            f"but got tensor with dtype {pred.dtype}"
        )
    elif len(unique := pred.unique()) and bool(((unique != 0) & (unique != 1)).any()):
        raise MaskError(
            f"Detected the following values in `preds`: {unique} but expected only the following values "
            "[0,1] since `preds` is a label tensor."
        )
    if not len(pred):
        pred.reshape(0, -1)


def _agreement_by_torch(pred: Any, target: Any, threshold: Any) -> Agreement:
    """Let torch compare, and apply its own sigmoid, so that ties fall as they do there."""
    truth = (target >= threshold).cpu().contiguous().numpy()
    pred = pred.detach()
    if pred.is_floating_point():
        if not bool(((pred >= 0) & (pred <= 1)).all()):
            pred = pred.sigmoid()
        selected = pred > threshold
    else:
        selected = pred.bool()
    found = _calipers.pyg_agreement(_values(selected), truth, 0.5, 0.5, False, True)
    ranks = _calipers.pyg_agreement(_values(_without_nan(pred)), truth, 0.5, 0.5, True, True)
    assert found is not None
    assert ranks is not None
    return (*found[:4], ranks[4], *found[5:])


def _values(tensor: Any) -> Any:
    import torch

    wide = tensor if tensor.dtype == torch.float64 else tensor.float()
    return wide.cpu().contiguous().numpy()


def _without_nan(pred: Any) -> Any:
    """Put every NaN above all numbers, none of them tied, in the order in which torch sorts them."""
    import torch

    count = int(pred.isnan().sum())
    if count == 0:
        return pred
    first = torch.argsort(pred, descending=True)[:count]
    pred = pred.double()
    pred[first] = torch.arange(count, 0, -1, device=pred.device, dtype=pred.dtype) + 1
    return pred


def _warn(found: Agreement) -> None:
    for elements, word, side in ((found[6], "negative", "false"), (found[5], "positive", "true")):
        if not elements:
            warnings.warn(
                f"No {word} samples in targets, {side} positive value should be meaningless. "
                f"Returning zero tensor in {side} positive score",
                UserWarning,
                stacklevel=3,
            )

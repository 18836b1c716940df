"""IoU, Dice and surface distances of MONAI 1.6, exact.

>>> import torch
>>> pred = torch.tensor([[[[1.0, 0.0]], [[0.0, 1.0]]]])
>>> truth = torch.tensor([[[[1.0, 1.0]], [[0.0, 0.0]]]])
>>> compute_iou(pred, truth)
tensor([[0.5000,    nan]])
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from calipers._extras import missing

try:
    import monai.metrics as published
    import torch
    from monai.metrics.utils import create_ignore_mask, ignore_background
    from torch import Tensor
except ImportError as error:
    raise missing("calipers.compat.monai", "monai", error) from error

from calipers.compat._counting import masks
from calipers.compat._exact import Exact, doubles, singles
from calipers.compat._missing import named
from calipers.compat._monai_surfaces import (
    HausdorffDistanceMetric,
    SurfaceDiceMetric,
    SurfaceDistanceMetric,
    aggregated,
    compute_average_surface_distance,
    compute_hausdorff_distance,
    compute_surface_dice,
)

__all__ = [
    "DiceMetric",
    "HausdorffDistanceMetric",
    "MeanIoU",
    "SurfaceDiceMetric",
    "SurfaceDistanceMetric",
    "compute_average_surface_distance",
    "compute_dice",
    "compute_hausdorff_distance",
    "compute_iou",
    "compute_surface_dice",
]

__getattr__ = named(__name__, __all__)

Sums = list[tuple[Fraction, Fraction, Fraction]]
"""Both, prediction and truth of every mask."""


def compute_iou(
    y_pred: Tensor,
    y: Tensor,
    include_background: bool = True,
    ignore_empty: bool = True,
    ignore_index: int | None = None,
) -> Tensor:
    """Return the IoU of every sample and class, [B, C]; NaN for an empty truth with `ignore_empty`."""
    given = y
    if not include_background:
        y_pred, y = ignore_background(y_pred=y_pred, y=y)
    if y.shape != y_pred.shape:
        raise ValueError(f"y_pred and y should have same shapes, got {y_pred.shape} and {y.shape}.")
    if ignore_index is not None:
        y_pred, y = _without(y_pred, y, given, ignore_index, 0 if include_background else 1)
    samples, classes = y.shape[:2]
    scores: list[Exact] = []
    for both, pred, truth in _sums(y_pred, y, samples * classes):
        union = pred + truth - both
        if ignore_empty:
            scores.append(both / union if truth > 0 and union else None)
        else:
            scores.append(both / union if union > 0 else Fraction(1))
    return _shaped(scores, samples, classes, y_pred, y).to(y.device)


def _without(y_pred: Tensor, y: Tensor, given: Tensor, ignore: int, first: int) -> tuple[Tensor, Tensor]:
    """Return both without what is ignored: a class, or the places that a mask leaves out."""
    if 0 <= ignore < y_pred.shape[1] + first:
        y_pred, y = y_pred.clone(), y.clone()
        channel = ignore - first
        if 0 <= channel < y_pred.shape[1]:
            y_pred[:, channel] = 0
            y[:, channel] = 0
        return y_pred, y
    kept = create_ignore_mask(given, ignore)
    return y_pred * kept, y * kept


def _sums(y_pred: Tensor, y: Tensor, rows: int) -> Sums:
    """Sum up masks; counted where they hold zeros and ones, else added in double precision."""
    counts = masks(y, y_pred, rows) if y.numel() else None
    if counts is not None:
        return [(Fraction(both), Fraction(pred), Fraction(truth)) for both, pred, truth in counts.tolist()]
    wide = [part.detach().double().reshape(rows, -1) for part in (y_pred, y)]
    parts = (wide[0] * wide[1]).sum(1), wide[0].sum(1), wide[1].sum(1)
    return [
        (Fraction(b), Fraction(p), Fraction(t))
        for b, p, t in zip(*(part.tolist() for part in parts), strict=True)
    ]


def _shaped(scores: list[Exact], samples: int, classes: int, *given: Tensor) -> Tensor:
    double = any(part.dtype == torch.float64 for part in given)
    made = doubles(scores) if double else singles(scores)
    return torch.from_numpy(made.reshape(samples, classes))


def compute_dice(
    y_pred: Tensor,
    y: Tensor,
    include_background: bool = True,
    ignore_empty: bool = True,
    num_classes: int | None = None,
    per_component: bool = False,
    ignore_index: int | None = None,
) -> Tensor:
    """Return the Dice score of every sample and class, [B, C]; label maps [B, 1, ...] are taken too.

    >>> compute_dice(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 1.0]]]))
    tensor([[0.6667]])
    """
    if per_component:
        raise NotImplementedError("per_component=True is not there: use monai for it")
    channels = y_pred.shape[1] if num_classes is None else num_classes
    classes = list(range(0 if include_background else 1, channels)) if channels > 1 else [1]
    kept = create_ignore_mask(y, ignore_index)
    scores = [
        _dice(_class_of(y_pred, at, c, pred=True), _class_of(y, at, c), kept, at, ignore_empty)
        for at in range(len(y_pred))
        for c in classes
    ]
    summed = [part for part in (y_pred, y) if part.shape[1] > 1 and part.is_floating_point()]
    return _shaped(scores, len(y_pred), len(classes), *summed).to(y_pred.device)


def _class_of(values: Tensor, sample: int, c: int, pred: bool = False) -> Tensor:
    if values.shape[1] == 1:
        return values[sample, 0] == c
    return values[sample, c].bool() if pred else values[sample, c]


def _dice(pred: Tensor, truth: Tensor, kept: Tensor | None, sample: int, ignore_empty: bool) -> Exact:
    if kept is not None:
        pred, truth = pred & kept[sample, 0].bool(), truth * kept[sample, 0]
    if truth.dtype == torch.bool:
        both, in_pred, in_truth = _sums(pred, truth, 1)[0]
    else:
        # Values between 0 and 1 are added up; there may be any.
        in_pred, in_truth = Fraction(int(pred.sum())), Fraction(float(truth.sum(dtype=torch.float64)))
        both = Fraction(float(truth[pred].sum(dtype=torch.float64)))
    if in_truth > 0:
        return 2 * both / (in_truth + in_pred)
    if ignore_empty:
        return None
    return Fraction(1) if in_truth + in_pred <= 0 else Fraction(0)


class MeanIoU(published.MeanIoU):
    """The mean IoU over samples and classes.

    >>> metric = MeanIoU()
    >>> _ = metric(torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[[[1.0, 1.0]]]]))
    >>> metric.aggregate()
    tensor([0.5000])
    """

    def _compute_tensor(self, y_pred: Tensor, y: Tensor) -> Tensor:
        _at_least_three(y_pred)
        return compute_iou(y_pred, y, self.include_background, self.ignore_empty, self.ignore_index)

    def aggregate(self, reduction: Any = None) -> Any:
        """Reduce the scores so far; those that are NaN do not count."""
        found, counts = aggregated(self.get_buffer(), reduction or self.reduction)
        return (found, counts) if self.get_not_nans else found


class DiceMetric(published.DiceMetric):
    """The mean Dice score over samples and classes.

    >>> metric = DiceMetric()
    >>> _ = metric(torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[[[1.0, 1.0]]]]))
    >>> metric.aggregate()
    tensor([0.6667])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the arguments of the library; `per_component=True` is not there."""
        super().__init__(*args, **kwargs)
        if self.per_component:
            raise NotImplementedError("per_component=True is not there: use monai for it")

    def _compute_tensor(self, y_pred: Tensor, y: Tensor) -> Tensor:
        _at_least_three(y_pred)
        return compute_dice(
            y_pred,
            y,
            self.include_background,
            self.ignore_empty,
            self.num_classes,
            ignore_index=self.ignore_index,
        )

    def aggregate(self, reduction: Any = None) -> Any:
        """Reduce the scores so far; with `return_with_label`, by name."""
        found, counts = aggregated(self.get_buffer(), reduction or self.reduction)
        if self.reduction == "mean_batch" and self.return_with_label:
            first = 0 if self.include_background else 1
            names = self.return_with_label
            if isinstance(names, bool):
                names = [f"label_{first + place}" for place in range(len(found))]
            found = {name: round(value.item(), 4) for name, value in zip(names, found, strict=False)}
        return (found, counts) if self.get_not_nans else found


def _at_least_three(y_pred: Tensor) -> None:
    if y_pred.ndim < 3:
        raise ValueError(
            f"y_pred should have at least 3 dimensions (batch, channel, spatial), got {y_pred.ndim}."
        )

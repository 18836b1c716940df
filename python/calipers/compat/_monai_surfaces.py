"""Surface distances of MONAI 1.6 on exact distances; `calipers.compat.monai` has their names."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import monai.metrics as published
import torch
from monai.metrics.utils import (
    create_ignore_mask,
    do_metric_reduction,
    ignore_background,
    prepare_spacing,
)
from torch import Tensor

from calipers import _calipers

Steps = Any
"""How far elements are apart, as the library takes it: a number, numbers, or numbers for each sample."""
Pair = tuple[Any, Any, list[float]]
"""Prediction and truth of one class of one sample as zeros and ones, and how far elements are apart."""


def compute_hausdorff_distance(
    y_pred: Tensor,
    y: Tensor,
    include_background: bool = False,
    distance_metric: str = "euclidean",
    percentile: float | None = None,
    directed: bool = False,
    spacing: Steps = None,
    ignore_index: int | None = None,
) -> Tensor:
    """Return the Hausdorff distance of every sample and class, [B, C].

    >>> pred, truth = torch.zeros(1, 1, 4, 9), torch.zeros(1, 1, 4, 9)
    >>> pred[..., 0, 0] = truth[..., 3, 8] = 1
    >>> compute_hausdorff_distance(pred, truth, include_background=True)
    tensor([[8.5440]])
    """
    _only_euclidean(distance_metric)
    if percentile and not 0 <= percentile <= 100:
        raise ValueError(f"percentile should be a value between 0 and 100, get {percentile}.")
    said = {"convention": "monai", **({"percentile": percentile} if percentile else {})}
    ignored = None if ignore_index is None else ignore_index - (0 if include_background else 1)

    def measure(pair: Pair, place: int) -> float:
        if place == ignored:
            return math.nan
        pred, truth, steps = pair
        found = _calipers.segmentation_hausdorff(_settings(said), truth, pred, steps)
        if found is not None:
            return found[0] if directed else max(found)
        # Interpolating between infinities is no number.
        return math.inf if (truth.any() or pred.any()) and not percentile else math.nan

    return _each(y_pred, y, include_background, spacing, measure)


def compute_average_surface_distance(
    y_pred: Tensor,
    y: Tensor,
    include_background: bool = False,
    symmetric: bool = False,
    distance_metric: str = "euclidean",
    spacing: Steps = None,
    ignore_index: int | None = None,
) -> Tensor:
    """Return the average distance from the predicted to the true surface, [B, C]; or of both directions.

    >>> pred, truth = torch.zeros(1, 1, 1, 9), torch.zeros(1, 1, 1, 9)
    >>> pred[..., 1] = truth[..., 1] = truth[..., 5] = 1
    >>> compute_average_surface_distance(pred, truth, include_background=True, symmetric=True)
    tensor([[1.3333]])
    """
    _only_euclidean(distance_metric)
    name = "assd" if symmetric else "asd_from_pred"

    def measure(pair: Pair, _: int) -> float:
        found = _read(pair, {"convention": "monai"}, name)
        return found if found is not None else math.inf if pair[0].any() or pair[1].any() else math.nan

    return _each(y_pred, y, include_background, spacing, measure)


def compute_surface_dice(
    y_pred: Tensor,
    y: Tensor,
    class_thresholds: Sequence[float],
    include_background: bool = False,
    distance_metric: str = "euclidean",
    spacing: Steps = None,
    use_subvoxels: bool = False,
    ignore_index: int | None = None,
) -> Tensor:
    """Return the share of both surfaces within the threshold of the class, [B, C].

    >>> pred, truth = torch.zeros(1, 1, 1, 9), torch.zeros(1, 1, 1, 9)
    >>> pred[..., 1] = truth[..., 1] = truth[..., 5] = 1
    >>> compute_surface_dice(pred, truth, [1], include_background=True)
    tensor([[0.6667]])
    """
    _only_euclidean(distance_metric)
    if use_subvoxels:
        raise NotImplementedError("use_subvoxels=True is not there: use the convention deepmind")
    kept = create_ignore_mask(y, ignore_index)
    if kept is not None:
        y_pred, y = y_pred * kept, y * kept
    classes = y_pred.shape[1] - (0 if include_background or y_pred.shape[1] == 1 else 1)
    if classes != len(class_thresholds):
        raise ValueError(
            f"number of classes ({classes}) does not match"
            f" number of class thresholds ({len(class_thresholds)})."
        )
    if not all(math.isfinite(threshold) for threshold in class_thresholds):
        raise ValueError("All class thresholds need to be finite.")
    if any(threshold < 0 for threshold in class_thresholds):
        raise ValueError("All class thresholds need to be >= 0.")

    def measure(pair: Pair, place: int) -> float:
        said = {"convention": "monai", "tolerance": float(class_thresholds[place])}
        found = _read(pair, said, "nsd")
        return math.nan if found is None else found

    return _each(y_pred, y, include_background, spacing, measure)


def _only_euclidean(distance_metric: str) -> None:
    if distance_metric != "euclidean":
        raise NotImplementedError(f"distance_metric={distance_metric!r} is not there: use monai for it")


def _settings(surface: dict[str, Any]) -> str:
    labels = {"original": ["outside", "object"], "background": 0}
    return json.dumps({"labels": labels, "measure": ["surface"], "surface": surface})


def _read(pair: Pair, surface: dict[str, Any], name: str) -> float | None:
    pred, truth, steps = pair
    state = _calipers.segmentation_new(_settings(surface))
    _calipers.segmentation_update(state, "sample", truth, pred, steps)
    numbers = json.loads(state.report({}))["metrics"][f"segmentation.{name}"]
    found: float | None = numbers["object"]
    return found


def _each(
    y_pred: Tensor,
    y: Tensor,
    include_background: bool,
    spacing: Steps,
    measure: Callable[[Pair, int], float],
) -> Tensor:
    """Measure every class of every sample."""
    if not include_background:
        y_pred, y = ignore_background(y_pred=y_pred, y=y)
    if y.shape != y_pred.shape:
        raise ValueError(f"y_pred and y should have same shapes, got {y_pred.shape} and {y.shape}.")
    if y.ndim not in (4, 5):
        raise ValueError(f"y_pred and y should be [B, C, H, W] or [B, C, H, W, D], got {y.shape}.")
    samples, classes = y.shape[:2]
    steps = prepare_spacing(spacing=spacing, batch_size=samples, img_dim=y.ndim - 2)
    pred, truth = ((part == 1).to(torch.uint8).cpu().numpy() for part in (y_pred, y))
    found = torch.empty((samples, classes), dtype=torch.float)
    for sample in range(samples):
        own = [1.0] if steps[sample] is None else [float(step) for step in _listed(steps[sample])]
        for place in range(classes):
            found[sample, place] = measure((pred[sample, place], truth[sample, place], own), place)
    return found.to(y_pred.device)


def _listed(steps: Any) -> list[Any]:
    return list(steps) if hasattr(steps, "__iter__") else [steps]


class _SurfaceMetric:
    """What the metrics of surfaces share: places that are ignored, and one rounding at the end."""

    def _kept(self, y_pred: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        if y_pred.ndim < 3:
            raise ValueError("y_pred should have at least three dimensions.")
        kept = create_ignore_mask(y, self.ignore_index)  # type: ignore[attr-defined]
        return (y_pred, y) if kept is None else (y_pred * kept, y * kept)

    def aggregate(self, reduction: Any = None) -> Any:
        """Reduce the scores so far; those that are NaN do not count."""
        buffer = self.get_buffer()  # type: ignore[attr-defined]
        found, counts = aggregated(buffer, reduction or self.reduction)  # type: ignore[attr-defined]
        return (found, counts) if self.get_not_nans else found  # type: ignore[attr-defined]


class HausdorffDistanceMetric(_SurfaceMetric, published.HausdorffDistanceMetric):
    """The mean Hausdorff distance over samples and classes.

    >>> pred, truth = torch.zeros(1, 1, 4, 9), torch.zeros(1, 1, 4, 9)
    >>> pred[..., 0, 0] = truth[..., 3, 8] = 1
    >>> metric = HausdorffDistanceMetric(include_background=True)
    >>> _ = metric(pred, truth)
    >>> metric.aggregate()
    tensor([8.5440])
    """

    def _compute_tensor(self, y_pred: Tensor, y: Tensor, **kwargs: Any) -> Tensor:
        y_pred, y = self._kept(y_pred, y)
        return compute_hausdorff_distance(
            y_pred,
            y,
            self.include_background,
            self.distance_metric,
            self.percentile,
            self.directed,
            kwargs.get("spacing"),
            self.ignore_index,
        )


class SurfaceDistanceMetric(_SurfaceMetric, published.SurfaceDistanceMetric):
    """The mean average surface distance over samples and classes.

    >>> pred, truth = torch.zeros(1, 1, 1, 9), torch.zeros(1, 1, 1, 9)
    >>> pred[..., 1] = truth[..., 1] = truth[..., 5] = 1
    >>> metric = SurfaceDistanceMetric(include_background=True, symmetric=True)
    >>> _ = metric(pred, truth)
    >>> metric.aggregate()
    tensor([1.3333])
    """

    def _compute_tensor(self, y_pred: Tensor, y: Tensor, **kwargs: Any) -> Tensor:
        y_pred, y = self._kept(y_pred, y)
        return compute_average_surface_distance(
            y_pred,
            y,
            self.include_background,
            self.symmetric,
            self.distance_metric,
            kwargs.get("spacing"),
        )


class SurfaceDiceMetric(_SurfaceMetric, published.SurfaceDiceMetric):
    """The mean surface Dice over samples and classes.

    >>> pred, truth = torch.zeros(1, 1, 1, 9), torch.zeros(1, 1, 1, 9)
    >>> pred[..., 1] = truth[..., 1] = truth[..., 5] = 1
    >>> metric = SurfaceDiceMetric([1], include_background=True)
    >>> _ = metric(pred, truth)
    >>> metric.aggregate()
    tensor([0.6667])
    """

    def _compute_tensor(self, y_pred: Tensor, y: Tensor, **kwargs: Any) -> Tensor:
        return compute_surface_dice(
            y_pred,
            y,
            self.class_thresholds,
            self.include_background,
            self.distance_metric,
            kwargs.get("spacing"),
            self.use_subvoxels,
            self.ignore_index,
        )


def aggregated(scores: Any, reduction: Any) -> tuple[Tensor, Tensor]:
    """Let the library reduce in double precision, and round once."""
    if not isinstance(scores, Tensor):
        raise ValueError("the data to aggregate must be PyTorch Tensor.")
    # The library writes zeros over NaN where it reduces.
    theirs, counts = do_metric_reduction(scores.clone(), reduction)
    wide, _ = do_metric_reduction(scores.clone().double(), reduction)
    return wide.to(theirs.dtype), counts

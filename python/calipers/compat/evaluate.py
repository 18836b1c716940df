"""`mean_iou` of Hugging Face's evaluate on exact counts; no `datasets`, no cache on disk.

>>> metric = load("mean_iou")
>>> maps = {"predictions": [[[0, 1, 1]]], "references": [[[0, 0, 255]]]}
>>> found = metric.compute(**maps, num_labels=2, ignore_index=255)
>>> float(found["mean_iou"]), found["per_category_iou"]
(0.25, array([0.5, 0. ]))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.compat._counting import array, pairs
from calipers.compat._exact import doubles, mean, ratio, ratios
from calipers.compat._missing import named

__all__ = ["load", "mean_iou"]

__getattr__ = named(__name__, __all__)

Pairs = Counter[tuple[int, int]]
"""Pixels by true and predicted id."""

_BYTES = 256
_FEW = 62
"""Ids of which a table of all pairs stays in a near cache."""
_MORE = 4
"""How many more than the largest that was seen a table holds: rare ones may not be among those."""
_VOID = 255


def load(path: str, *args: Any, **kwargs: Any) -> MeanIoU:
    """Return the metric of that name; there is `mean_iou`.

    >>> load("accuracy")
    Traceback (most recent call last):
    ValueError: there is no metric 'accuracy' here; there is mean_iou
    """
    if path.rsplit("/", 1)[-1] != "mean_iou":
        raise ValueError(f"there is no metric '{path}' here; there is mean_iou")
    return MeanIoU()


class MeanIoU:
    """Intersection over union of a data set. Images are measured when they are added."""

    name = "mean_iou"

    def __init__(self) -> None:
        self._pairs: Pairs = Counter()
        self._images = 0

    def __repr__(self) -> str:
        return f"<calipers.compat.evaluate.MeanIoU, {self._images} images>"

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Measure one image."""
        self.add_batch(
            predictions=[kwargs.get("predictions", prediction)],
            references=[kwargs.get("references", reference)],
        )

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Measure several images, all or none."""
        counted, images = _counted(predictions, references, self._images)
        self._pairs.update(counted)
        self._images += images

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        num_labels: int,
        ignore_index: int,
        nan_to_num: int | None = None,
        label_map: Mapping[int, int] | None = None,
        reduce_labels: bool = False,
    ) -> dict[str, Any]:
        """Return the metrics of all images, those given here included, and forget them."""
        if predictions is not None or references is not None:
            self.add_batch(predictions=predictions, references=references)
        found = _metrics(self._pairs, num_labels, ignore_index, nan_to_num, label_map, reduce_labels)
        self._pairs, self._images = Counter(), 0
        return found


def mean_iou(
    results: Any,
    gt_seg_maps: Any,
    num_labels: int,
    ignore_index: int,
    nan_to_num: int | None = None,
    label_map: Mapping[int, int] | None = None,
    reduce_labels: bool = False,
) -> dict[str, Any]:
    """Return mean IoU, mean and overall accuracy, and both by class.

    >>> float(mean_iou([[[0, 1]]], [[[0, 1]]], num_labels=2, ignore_index=255)["mean_iou"])
    1.0
    """
    counted, _ = _counted(results, gt_seg_maps, 0)
    return _metrics(counted, num_labels, ignore_index, nan_to_num, label_map, reduce_labels)


def _counted(predictions: Iterable[Any], references: Iterable[Any], before: int) -> tuple[Pairs, int]:
    preds, truths = list(predictions), list(references)
    if len(preds) != len(truths):
        raise ValueError(f"there are {len(preds)} predictions and {len(truths)} references")
    counted: Pairs = Counter()
    for place, (pred, truth) in enumerate(zip(preds, truths, strict=True)):
        pred, truth = array(pred), array(truth)
        if pred.shape != truth.shape:
            raise ValueError(
                f"pair {before + place}: the prediction has shape {pred.shape}, the reference {truth.shape}"
            )
        counted.update(_joint(truth, pred))
    return counted, len(preds)


def _joint(truth: npt.NDArray[Any], pred: npt.NDArray[Any]) -> Pairs:
    """Count the pairs of ids as they are: which are classes is said later."""
    # A small table is filled faster; which is large enough, a few ids say, and the count itself decides.
    some = slice(None, None, 997)
    few = max(_largest(ids.reshape(-1)[some]) for ids in (truth, pred)) + _MORE
    if 0 < few <= _FEW:
        counts = pairs(truth, pred, few, _VOID)[0]
        if not counts[few].any() and not counts[:, few].any():
            lines = [*range(few + 1), _VOID]
            return Counter(
                {(lines[t], int(p)): int(counts[t, p]) for t, p in zip(*np.nonzero(counts), strict=True)}
            )
    counts = pairs(truth, pred, _BYTES, None)[0]
    if not counts[_BYTES:].any() and not counts[:, _BYTES].any():
        return Counter(
            {(int(t), int(p)): int(counts[t, p]) for t, p in zip(*np.nonzero(counts), strict=True)}
        )
    both = np.stack([truth.reshape(-1), pred.reshape(-1)]).astype(np.int64)
    ids, times = np.unique(both, axis=1, return_counts=True)
    return Counter({(int(t), int(p)): int(n) for (t, p), n in zip(ids.T, times, strict=True)})


def _largest(ids: npt.NDArray[Any]) -> int:
    known = ids[ids != _VOID]
    return int(known.max()) if known.size else 0


def _renamed(label: int, label_map: Mapping[int, int] | None, reduce_labels: bool) -> int:
    """Return a true id after the map, one line after the other, and after taking 1 off all but 0."""
    for old, new in (label_map or {}).items():
        if label == int(old):
            label = int(new)
    if reduce_labels:
        label = 255 if label in (0, 255) else label - 1
    return label


def _metrics(
    counted: Pairs,
    num_labels: int,
    ignore_index: int,
    nan_to_num: int | None,
    label_map: Mapping[int, int] | None,
    reduce_labels: bool,
) -> dict[str, Any]:
    both, of_pred, of_truth = ([0] * num_labels for _ in range(3))
    for (truth, pred), times in counted.items():
        truth = _renamed(truth, label_map, reduce_labels)
        if truth == ignore_index:
            continue
        if 0 <= truth < num_labels:
            of_truth[truth] += times
            both[truth] += times if pred == truth else 0
        if 0 <= pred < num_labels:
            of_pred[pred] += times
    union = [p + t - i for p, t, i in zip(of_pred, of_truth, both, strict=True)]
    iou, accuracy = ratios(both, union), ratios(both, of_truth)
    shares = [mean(iou), mean(accuracy), ratio(sum(both), sum(of_truth))]
    names = ("mean_iou", "mean_accuracy", "overall_accuracy")
    found: dict[str, Any] = dict(zip(names, doubles(shares), strict=True))
    found.update(per_category_iou=doubles(iou), per_category_accuracy=doubles(accuracy))
    if nan_to_num is None:
        return found
    replaced = {name: np.nan_to_num(value, nan=nan_to_num) for name, value in found.items()}
    # A mean over classes is that of the numbers that exist.
    return {name: np.float64(value) if name in names else value for name, value in replaced.items()}

"""Confusion matrices and the Jaccard index."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import torch
import torchmetrics.classification as published
from torch import Tensor
from torchmetrics.functional.classification.confusion_matrix import (
    _binary_confusion_matrix_format,
    _binary_confusion_matrix_tensor_validation,
    _multiclass_confusion_matrix_tensor_validation,
)
from torchmetrics.utilities import rank_zero_warn
from torchmetrics.utilities.enums import ClassificationTask

from calipers.compat._counting import Counts, array
from calipers.compat._exact import Exact, quotients, ratio, ratios, single, singles, weighted
from calipers.compat.torchmetrics._labels import counted, has_outside, labels, refusal, tensor_like

Average = Literal["micro", "macro", "weighted", "none"] | None


class _Counted:
    """Counts labels of several classes into `confmat`."""

    confmat: Tensor
    num_classes: int
    ignore_index: int | None
    validate_args: bool

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch: labels, or scores [N, C, ...], against labels [N, ...]."""
        classes, ignore = self.num_classes, self.ignore_index
        found = labels(preds, target, classes)
        if found is None:
            super().update(preds, target)  # type: ignore[misc]
            return
        counts = counted(found, target, classes, ignore)
        if has_outside(counts, classes, ignored_too=True) and self.validate_args:
            _multiclass_confusion_matrix_tensor_validation(preds, target, classes, ignore)
        if has_outside(counts, classes):
            raise refusal(found, target, classes, ignore)
        self.confmat = self.confmat + tensor_like(counts[0, :classes, :classes], self.confmat.device)


class MulticlassConfusionMatrix(_Counted, published.MulticlassConfusionMatrix):
    """The confusion matrix, rows truth; normalised by rows, columns or all where asked for.

    >>> matrix = MulticlassConfusionMatrix(num_classes=2, normalize="true")
    >>> matrix(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
    tensor([[0.5000, 0.5000],
            [0.0000, 1.0000]])
    """

    def compute(self) -> Tensor:
        """Return counts, or shares rounded once."""
        if self.normalize is None or self.normalize == "none":
            found: Tensor = super().compute()
            return found
        counts = _whole(self.confmat)
        axes: dict[str, Any] = {"true": 1, "pred": 0, "all": (0, 1)}
        axis = axes[self.normalize]
        shares = quotients(counts, counts.sum(axis=axis, keepdims=True))
        undefined = int(np.isnan(shares).sum())
        if undefined:
            rank_zero_warn(f"{undefined} NaN values found in confusion matrix have been replaced with zeros.")
        return torch.from_numpy(np.nan_to_num(shares, nan=0.0)).to(self.confmat.device)


class MulticlassJaccardIndex(_Counted, published.MulticlassJaccardIndex):
    """Intersection over union of the classes of a data set.

    >>> iou = MulticlassJaccardIndex(num_classes=2)
    >>> iou(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
    tensor(0.5000)
    """

    def compute(self) -> Tensor:
        """Return the index by class, or its average."""
        found = _jaccard(_whole(self.confmat), self.average, self.ignore_index, self.zero_division)
        made = singles(found) if isinstance(found, list) else single(found)
        return torch.as_tensor(made).to(self.confmat.device)


def _jaccard(
    counts: Counts, average: Average, ignore_index: int | None, zero_division: float
) -> Exact | list[Exact]:
    hits, truth, pred = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    unions, otherwise = truth + pred - hits, Fraction(zero_division)
    ignored = ignore_index if ignore_index is not None and 0 <= ignore_index < len(counts) else None
    if average == "micro":
        left_out = 0 if ignored is None else int(unions[ignored])
        return ratio(int(hits.sum()), int(unions.sum()) - left_out, otherwise)
    scores = ratios(hits, unions, otherwise)
    if average is None or average == "none":
        return scores
    if average == "weighted":
        return weighted(scores, truth)
    weights = (truth + pred > 0).astype(np.int64)
    if ignored is not None:
        weights[ignored] = 0
    return weighted(scores, weights)


def _whole(confmat: Tensor) -> Counts:
    """Return the counts; a metric that was moved to a float type holds them as such."""
    return array(confmat).astype(np.int64)


class BinaryJaccardIndex(published.BinaryJaccardIndex):
    """Intersection over union of the class 1.

    >>> BinaryJaccardIndex()(torch.tensor([0.2, 0.8, 0.9]), torch.tensor([0, 0, 1]))
    tensor(0.5000)
    """

    confmat: Tensor

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch: labels, probabilities or logits against labels."""
        if self.validate_args:
            _binary_confusion_matrix_tensor_validation(preds, target, self.ignore_index)
        found, kept = _binary_confusion_matrix_format(preds, target, self.threshold, self.ignore_index)
        if found.is_floating_point() or kept.is_floating_point():
            super().update(preds, target)
            return
        counts = counted(found, kept, 2, None)
        if has_outside(counts, 2):
            raise refusal(found, kept, 2, None)
        self.confmat = self.confmat + tensor_like(counts[0, :2, :2], self.confmat.device)

    def compute(self) -> Tensor:
        """Return the index."""
        (_, fp), (fn, tp) = _whole(self.confmat).tolist()
        found = single(ratio(tp, fp + fn + tp, Fraction(self.zero_division)))
        return torch.as_tensor(found).to(self.confmat.device)


class JaccardIndex(published.JaccardIndex):
    """The index of a task.

    >>> type(JaccardIndex(task="multiclass", num_classes=3)).__name__
    'MulticlassJaccardIndex'
    """

    def __new__(
        cls,
        task: Literal["binary", "multiclass", "multilabel"],
        threshold: float = 0.5,
        num_classes: int | None = None,
        num_labels: int | None = None,
        average: Average = "macro",
        ignore_index: int | None = None,
        validate_args: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Return the metric of the task."""
        kind = ClassificationTask.from_str(task)
        options = {"ignore_index": ignore_index, "validate_args": validate_args, **kwargs}
        if kind == ClassificationTask.BINARY:
            return BinaryJaccardIndex(threshold, **options)
        if kind == ClassificationTask.MULTICLASS:
            if not isinstance(num_classes, int):
                raise ValueError(
                    f"`num_classes` is expected to be `int` but `{type(num_classes)} was passed.`"
                )
            return MulticlassJaccardIndex(num_classes, average, **options)
        raise NotImplementedError("JaccardIndex(task='multilabel') is not there: use torchmetrics for it")

"""Accuracy, precision, recall and F1 of several classes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import numpy as np
import torch
import torchmetrics.classification as published
from torch import Tensor
from torchmetrics.functional.classification.stat_scores import _multiclass_stat_scores_tensor_validation

from calipers.compat._counting import Counts, array
from calipers.compat._exact import Exact, ratio, ratios, single, singles, weighted
from calipers.compat.torchmetrics._labels import counted, has_outside, labels, refusal, tensor_like


class _Scored:
    """Counts labels into `tp`, `fp`, `tn` and `fn`, and divides them exactly."""

    num_classes: int | None
    top_k: int
    average: str | None
    multidim_average: str
    ignore_index: int | None
    validate_args: bool
    zero_division: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.top_k > 1:
            raise NotImplementedError("top_k above 1 is not there: use torchmetrics for it")

    def _parts(self, tp: Counts, fp: Counts, fn: Counts) -> tuple[Counts, Counts]:
        """Return the numerators and denominators of the score."""
        raise NotImplementedError

    def _otherwise(self) -> Fraction:
        return Fraction(self.zero_division)

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch: labels, or scores [N, C, ...], against labels [N, ...]."""
        library = cast(Any, super())
        classes, ignore = self.num_classes, self.ignore_index
        samplewise = self.multidim_average == "samplewise"
        found = None if classes is None else labels(preds, target, classes)
        if classes is None or found is None or (samplewise and target.ndim < 2):
            library.update(preds, target)
            return
        counts = counted(found, target, classes, ignore, len(target) if samplewise else 1)
        if has_outside(counts, classes, ignored_too=True):
            if samplewise or self.average == "micro":
                # The library compares labels as they are, or refuses them.
                library.update(preds, target)
                return
            if self.validate_args:
                _multiclass_stat_scores_tensor_validation(
                    preds, target, classes, self.multidim_average, ignore
                )
            if has_outside(counts, classes):
                raise refusal(found, target, classes, ignore)
        known = counts[:, :classes, :classes]
        tp = known.diagonal(axis1=1, axis2=2)
        fp, fn, total = known.sum(axis=1) - tp, known.sum(axis=2) - tp, known.sum(axis=(1, 2))
        if self.average == "micro" and not samplewise:
            tp, fp, fn = (part.sum(axis=1) for part in (tp, fp, fn))
            tn = classes * total - (tp + fp + fn)
        else:
            tn = total[:, None] - (tp + fp + fn)
        device = target.device
        parts = (part if samplewise else part[0] for part in (tp, fp, tn, fn))
        cast(Any, self)._update_state(*(tensor_like(np.asarray(part), device) for part in parts))

    def compute(self) -> Tensor:
        """Return the score by class, or its average; with `samplewise`, of every sample."""
        states = cast(Any, self)._final_state()
        tp, fp, _, fn = (array(state).astype(np.int64) for state in states)
        device = states[0].device
        if self.multidim_average == "samplewise":
            rows = [self._averaged(*row) for row in zip(tp, fp, fn, strict=True)]
            made = np.stack([_single(row) for row in rows]) if rows else np.zeros(0, np.float32)
        else:
            made = np.asarray(_single(self._averaged(tp, fp, fn)))
        return torch.from_numpy(made).to(device)

    def _averaged(self, tp: Counts, fp: Counts, fn: Counts) -> Exact | list[Exact]:
        if self.average == "micro":
            tp, fp, fn = (part.sum() for part in (tp, fp, fn))
            part, whole = self._parts(tp, fp, fn)
            return ratio(int(part), int(whole), self._otherwise())
        scores = ratios(*self._parts(tp, fp, fn), self._otherwise())
        if self.average is None or self.average == "none":
            return scores
        weights = tp + fn if self.average == "weighted" else (tp + fp + fn > 0).astype(np.int64)
        return weighted(scores, weights, Fraction(0))


def _single(value: Exact | list[Exact]) -> Any:
    return singles(value) if isinstance(value, list) else single(value)


class MulticlassAccuracy(_Scored, published.MulticlassAccuracy):
    """The share of each class that is found; with `average="micro"` of all samples.

    >>> MulticlassAccuracy(num_classes=2, average="micro")(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
    tensor(0.6667)
    """

    def _parts(self, tp: Counts, fp: Counts, fn: Counts) -> tuple[Counts, Counts]:
        return tp, tp + fn

    def _otherwise(self) -> Fraction:
        return Fraction(0)


class MulticlassPrecision(_Scored, published.MulticlassPrecision):
    """The share of the predictions of each class that are right.

    >>> MulticlassPrecision(num_classes=2, average="none")(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
    tensor([1.0000, 0.5000])
    """

    def _parts(self, tp: Counts, fp: Counts, fn: Counts) -> tuple[Counts, Counts]:
        return tp, tp + fp


class MulticlassRecall(_Scored, published.MulticlassRecall):
    """The share of each class that is found.

    >>> MulticlassRecall(num_classes=2, average="none")(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
    tensor([0.5000, 1.0000])
    """

    def _parts(self, tp: Counts, fp: Counts, fn: Counts) -> tuple[Counts, Counts]:
        return tp, tp + fn


class MulticlassF1Score(_Scored, published.MulticlassF1Score):
    """The harmonic mean of precision and recall.

    >>> MulticlassF1Score(num_classes=2, average="none")(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
    tensor([0.6667, 0.6667])
    """

    def _parts(self, tp: Counts, fp: Counts, fn: Counts) -> tuple[Counts, Counts]:
        return 2 * tp, 2 * tp + fp + fn

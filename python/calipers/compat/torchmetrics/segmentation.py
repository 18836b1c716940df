"""`MeanIoU` and `DiceScore` of `torchmetrics.segmentation`: means over samples, on exact counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import torch
import torchmetrics.segmentation as published
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.functional.segmentation.dice import _dice_score_update
from torchmetrics.functional.segmentation.mean_iou import _mean_iou_update, _mean_iou_validate_args
from torchmetrics.utilities.data import dim_zero_cat

from calipers.compat._counting import Counts, array, masks, pairs
from calipers.compat._exact import Exact, mean, ratio, ratios, singles
from calipers.compat._missing import named

__all__ = ["DiceScore", "MeanIoU"]

__getattr__ = named(__name__, __all__)

Format = Literal["one-hot", "index", "mixed"]

_BITS, _LIMBS = 30, 5


def _counts(preds: Tensor, target: Tensor, classes: int, background: bool, form: Format) -> Counts | None:
    """Return both, prediction and truth of every sample and class; `None` for what is left to the library."""
    if preds.shape != target.shape:
        return None
    if form == "one-hot" and preds.is_floating_point() and target.is_floating_point() and preds.ndim > 2:
        preds, target, form = preds.argmax(dim=1), target.argmax(dim=1), "index"
    if preds.is_floating_point() or target.is_floating_point() or not preds.numel():
        return None
    if form == "index":
        counts = pairs(target, preds, classes, None, len(target))
        if counts[:, classes].any() or counts[:, :, classes].any():
            return None
        known = counts[:, :classes, :classes]
        found = np.stack([known.diagonal(axis1=1, axis2=2), known.sum(axis=1), known.sum(axis=2)])
    elif form == "one-hot" and preds.ndim > 2:
        samples, channels = preds.shape[:2]
        flat = masks(target, preds, samples * channels)
        if flat is None:
            return None
        found = np.moveaxis(flat.reshape(samples, channels, 3), 2, 0)
    else:
        return None
    return found if background or found.shape[2] == 1 else found[:, :, 1:]


class MeanIoU(published.MeanIoU):
    """The mean over samples of the IoU of each sample, as the library defines it: not the data set's IoU.

    >>> preds, target = torch.tensor([[[0, 1], [1, 1]]]), torch.tensor([[[0, 1], [0, 1]]])
    >>> MeanIoU(num_classes=2, per_class=True, input_format="index")(preds, target)
    tensor([0.5000, 0.6667])
    """

    sums: Tensor
    samples: Tensor

    def __init__(
        self,
        num_classes: int | None = None,
        include_background: bool = True,
        per_class: bool = False,
        input_format: Format = "one-hot",
        **kwargs: Any,
    ) -> None:
        # The library's own states are sums in single precision.
        Metric.__init__(self, **kwargs)
        _mean_iou_validate_args(num_classes, include_background, per_class, input_format)
        self.num_classes = num_classes
        self.include_background = include_background
        self.per_class = per_class
        self.input_format = input_format
        self._is_initialized = num_classes is not None
        self._make_states(1 if num_classes is None else self._scored(num_classes))

    def _scored(self, classes: int) -> int:
        return classes if self.include_background else classes - 1

    def _make_states(self, classes: int) -> None:
        self.add_state("sums", torch.zeros(classes, _LIMBS + 1, dtype=torch.long), dist_reduce_fx="sum")
        self.add_state("samples", torch.zeros(classes, dtype=torch.long), dist_reduce_fx="sum")

    @property
    def score(self) -> Tensor:
        """The sum of the scores so far: of each class with `per_class`, else of all."""
        sums = self._sums()
        made = singles(sums if self.per_class else [sum(sums, Fraction(0))])
        return torch.from_numpy(made).to(self.samples.device)

    @property
    def num_batches(self) -> Tensor:
        """How many scores that is."""
        samples = self.samples if self.per_class else self.samples.sum().expand(len(self.samples))
        return samples.float()

    def _sums(self) -> list[Fraction]:
        rows = array(self.sums).astype(np.int64).tolist()
        return [
            sum((Fraction(limb, 1 << _BITS * place) for place, limb in enumerate(row)), Fraction(0))
            for row in rows
        ]

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch in the input format."""
        if not self._is_initialized:
            self.num_classes = _classes_of(preds, target, self.input_format)
            self._make_states(self._scored(self.num_classes))
            self._is_initialized = True
            self.sums, self.samples = self.sums.to(self.device), self.samples.to(self.device)
        classes = self.num_classes
        assert classes is not None
        given = (preds, target)
        if self.input_format == "index":
            given = (_with_samples(preds), _with_samples(target))
        counts = _counts(*given, classes, self.include_background, self.input_format)
        if counts is None:
            both, union = _mean_iou_update(preds, target, classes, self.include_background, self.input_format)
            both, union = (array(part).astype(np.int64) for part in (both, union))
        else:
            both, union = counts[0], counts[1] + counts[2] - counts[0]
        limbs = np.zeros((both.shape[1], _LIMBS + 1), dtype=np.int64)
        for part, whole in zip(both, union, strict=True):
            limbs += np.array([_limbs(int(i), int(u)) for i, u in zip(part, whole, strict=True)])
        device = self.samples.device
        self.sums = self.sums.long() + torch.from_numpy(limbs).to(device)
        self.samples = self.samples.long() + torch.from_numpy((union > 0).sum(axis=0)).to(device)

    def compute(self) -> Tensor:
        """Return the mean over samples and classes; by class, -1 for one that never occurred."""
        samples = array(self.samples).astype(np.int64).tolist()
        if self.per_class:
            found = ratios_of(self._sums(), samples, Fraction(-1))
        else:
            found = ratios_of([sum(self._sums(), Fraction(0))], [sum(samples)], None)
        made = torch.from_numpy(singles(found)).to(self.samples.device)
        return made if self.per_class else made[0]


def _with_samples(ids: Tensor) -> Tensor:
    """Return one image as a batch of one, as the library does."""
    return ids.reshape({1: (1, 1), 2: (1,)}.get(ids.ndim, ()) + tuple(ids.shape))


def ratios_of(sums: list[Fraction], counts: list[int], otherwise: Exact) -> list[Exact]:
    """Return the means of sums."""
    return [total / count if count else otherwise for total, count in zip(sums, counts, strict=True)]


def _limbs(part: int, whole: int) -> list[int]:
    """Cut a quotient of at most 1 into whole numbers of 30 bits, down to 2^-150."""
    if not whole:
        return [0] * (_LIMBS + 1)
    limbs = []
    for _ in range(_LIMBS + 1):
        limb, part = divmod(part, whole)
        limbs.append(limb)
        part <<= _BITS
    return limbs


def _classes_of(preds: Tensor, target: Tensor, form: Format) -> int:
    """Return the number of channels, where there are channels."""
    if form == "index":
        raise ValueError("Argument `num_classes` must be provided when `input_format` is 'index'.")
    given = preds
    if form == "mixed" and preds.dim() != target.dim() + 1:
        if preds.dim() + 1 != target.dim():
            raise ValueError(
                "Predictions and targets are expected to have the same shape,",
                f"got {preds.shape} and {target.shape}.",
            )
        given = target
    if given.ndim < 2:
        raise IndexError(f"Cannot determine `num_classes` from `preds` tensor: {preds}.")
    if given.shape[1] == 0:
        raise ValueError("Expected argument `num_classes` to be a positive integer, but got 0.")
    return int(given.shape[1])


class DiceScore(published.DiceScore):
    """Dice by sample or of all samples, as the library defines it.

    >>> preds, target = torch.tensor([[[0, 1], [1, 1]]]), torch.tensor([[[0, 1], [0, 1]]])
    >>> DiceScore(num_classes=2, average="none", input_format="index")(preds, target)
    tensor([0.6667, 0.8000])
    """

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch in the input format."""
        counts = None
        if preds.ndim >= 3 or (self.input_format == "index" and preds.ndim >= 2):
            counts = _counts(preds, target, self.num_classes, self.include_background, self.input_format)
        if counts is None:
            found = _dice_score_update(
                preds, target, self.num_classes, self.include_background, self.input_format
            )
            parts = tuple(array(part).astype(np.int64) for part in found)
        else:
            both, pred, truth = counts
            parts = (2 * both, pred + truth, truth)
        for state, part in zip((self.numerator, self.denominator, self.support), parts, strict=True):
            state.append(torch.from_numpy(part.copy()).to(self.device))

    def compute(self) -> Tensor:
        """Return the score by class, or its average."""
        states = (self.numerator, self.denominator, self.support)
        numerator, denominator, support = (array(dim_zero_cat(state)).astype(np.int64) for state in states)
        if self.aggregation_level == "global":
            numerator, denominator, support = (
                part.sum(axis=0, keepdims=True) for part in (numerator, denominator, support)
            )
        rows = zip(numerator, denominator, support, strict=True)
        found = [_dice(*row, self.average) for row in rows]
        means = [mean(column) for column in zip(*found, strict=True)]
        made = torch.from_numpy(singles(means)).to(self.device)
        return made if self.average in ("none", None) else made[0]


def _dice(numerator: Counts, denominator: Counts, support: Counts, average: str | None) -> list[Exact]:
    if average == "micro":
        return [ratio(int(numerator.sum()), int(denominator.sum()))]
    scores = ratios(numerator, denominator)
    if average == "macro":
        return [mean(scores)]
    if average == "weighted":
        if all(score is None for score in scores):
            return [None]
        total = int(support.sum())
        products = (
            score * int(weight) / total
            for score, weight in zip(scores, support, strict=True)
            if score is not None and total
        )
        return [sum(products, Fraction(0))]
    return scores

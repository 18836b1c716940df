"""Expected calibration error from exact sums per bin."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import torch
import torchmetrics.classification as published
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.functional.classification.calibration_error import (
    _multiclass_calibration_error_arg_validation,
    _multiclass_calibration_error_tensor_validation,
    _multiclass_calibration_error_update,
)
from torchmetrics.functional.classification.confusion_matrix import _multiclass_confusion_matrix_format

from calipers.compat._counting import array
from calipers.compat._exact import single, single_root

_BITS = 30
"""Bits of a limb: sums of 2^33 of them fit a 64-bit integer."""
_LIMBS = 5
"""Limbs of a confidence: down to 2^-150, below the smallest number of single precision."""


class MulticlassCalibrationError(published.MulticlassCalibrationError):
    """How far confidences lie from accuracies, over bins of confidence.

    >>> scores = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.97, 0.03], [0.95, 0.05]])
    >>> MulticlassCalibrationError(2, n_bins=10)(scores, torch.tensor([0, 1, 0, 0]))
    tensor(0.2300)
    """

    samples: Tensor
    correct: Tensor
    confidence: Tensor

    def __init__(
        self,
        num_classes: int,
        n_bins: int = 15,
        norm: Literal["l1", "l2", "max"] = "l1",
        ignore_index: int | None = None,
        validate_args: bool = True,
        **kwargs: Any,
    ) -> None:
        # The library's own states would keep every sample.
        Metric.__init__(self, **kwargs)
        if validate_args:
            _multiclass_calibration_error_arg_validation(num_classes, n_bins, norm, ignore_index)
        self.num_classes = num_classes
        self.n_bins = n_bins
        self.norm = norm
        self.ignore_index = ignore_index
        self.validate_args = validate_args
        for name, shape in (("samples", (n_bins,)), ("correct", (n_bins,)), ("confidence", (n_bins, _LIMBS))):
            self.add_state(name, torch.zeros(shape, dtype=torch.long), dist_reduce_fx="sum")

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch: probabilities or logits [N, C, ...] against labels [N, ...]."""
        if self.validate_args:
            _multiclass_calibration_error_tensor_validation(
                preds, target, self.num_classes, self.ignore_index
            )
        preds, target = _multiclass_confusion_matrix_format(
            preds, target, self.ignore_index, convert_to_labels=False
        )
        confidences, correct = _multiclass_calibration_error_update(preds, target)
        if confidences.isnan().any():
            raise ValueError("`preds` holds NaN, which is no probability")
        ends = torch.linspace(0, 1, self.n_bins + 1, dtype=confidences.dtype, device=confidences.device)
        bins = (torch.bucketize(confidences, ends, right=True) - 1).clamp(0, self.n_bins - 1)
        device = self.samples.device
        bins, correct = bins.to(device), correct.to(device)
        self.samples = self.samples.long().index_add(0, bins, torch.ones_like(bins))
        self.correct = self.correct.long().index_add(0, bins, correct.long())
        self.confidence = self.confidence.long().index_add(0, bins, _limbs(confidences).to(device))

    def compute(self) -> Tensor:
        """Return the error by the norm, rounded once."""
        if not self.update_called:
            raise ValueError("No samples to concatenate")
        samples, correct = (array(state).astype(np.int64).tolist() for state in (self.samples, self.correct))
        sums = [_sum_of(row) for row in array(self.confidence).astype(np.int64).tolist()]
        gaps = [abs(right - total) for right, total in zip(correct, sums, strict=True)]
        count = sum(samples)
        if self.norm == "l1":
            found = single(sum(gaps, Fraction(0)) / count if count else None)
        elif self.norm == "max":
            found = single(max(gap / n if n else Fraction(0) for gap, n in zip(gaps, samples, strict=True)))
        else:
            squares = sum((gap**2 / n for gap, n in zip(gaps, samples, strict=True) if n), Fraction(0))
            if not squares:
                # The library has a whole number here.
                return torch.tensor(0)
            found = single_root(squares / count)
        return torch.as_tensor(found).to(self.samples.device)


def _limbs(confidences: Tensor) -> Tensor:
    """Cut confidences into whole numbers of 30 bits, without rounding."""
    rest, limbs = confidences.double(), []
    for _ in range(_LIMBS):
        rest = rest * 2**_BITS
        limb = rest.floor()
        limbs.append(limb.long())
        rest = rest - limb
    return torch.stack(limbs, dim=1)


def _sum_of(limbs: list[int]) -> Fraction:
    return sum((Fraction(limb, 1 << _BITS * place) for place, limb in enumerate(limbs, start=1)), Fraction(0))

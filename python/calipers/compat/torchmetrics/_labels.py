"""From predictions and targets of several classes to exact counts, as torchmetrics reads them."""

from __future__ import annotations

import torch
from torch import Tensor

from calipers.compat._counting import Counts, array, first_outside, pairs


def labels(preds: Tensor, target: Tensor, classes: int) -> Tensor | None:
    """Return predicted labels of the shape of the target; `None` where the inputs are not the usual ones.

    The usual ones are whole numbers, and scores [N, C, ...] for targets [N, ...]. Everything else is left to
    the library, which raises its own errors.
    """
    if target.is_floating_point() or target.is_complex():
        return None
    if preds.shape == target.shape:
        return None if preds.is_floating_point() or preds.is_complex() else preds
    expected = (*target.shape[:1], classes, *target.shape[1:])
    if preds.is_floating_point() and tuple(preds.shape) == expected and target.numel():
        return preds.argmax(dim=1)
    return None


def has_outside(counts: Counts, classes: int, ignored_too: bool = False) -> bool:
    """Return whether an id was none of the classes; at ignored places too, if asked for."""
    outside = counts[:, classes, :].any() or counts[:, :classes, classes].any()
    return bool(outside or (ignored_too and counts[:, classes + 1, classes].any()))


def counted(preds: Tensor, target: Tensor, classes: int, ignore: int | None, rows: int = 1) -> Counts:
    """Count the pairs of labels of one shape in `rows` parts."""
    return pairs(target, preds, classes, ignore, rows)


def refusal(preds: Tensor, target: Tensor, classes: int, ignore: int | None) -> ValueError:
    """Return the error about the first id that is no class."""
    return ValueError(first_outside(array(target), array(preds), classes, ignore, ("target", "preds")))


def tensor_like(counts: Counts, device: torch.device) -> Tensor:
    """Return counts as a tensor on that device."""
    return torch.from_numpy(counts.copy()).to(device)

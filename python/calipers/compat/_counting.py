"""Counts of labels and masks, whatever holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers import _calipers

Counts = npt.NDArray[np.int64]


def array(values: Any) -> npt.NDArray[Any]:
    """Return an array, or a tensor of any device, as NumPy memory."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if values.dtype.is_floating_point and values.dtype.itemsize == 2:
            values = values.float()
        return np.asarray(values.numpy())
    return np.asarray(values)


def pairs(truth: Any, pred: Any, classes: int, ignore: int | None, rows: int = 1) -> Counts:
    """Count pairs of ids in `rows` parts of equal size: [rows, classes + 2, classes + 1].

    Truth has lines for ids outside of the classes and for the ignored one, predictions for ids outside.
    """
    flat = [np.ascontiguousarray(array(ids)).reshape(rows, -1) for ids in (truth, pred)]
    return _calipers.count_id_pairs(flat[0], flat[1], classes, ignore)


def first_outside(
    truth: npt.NDArray[Any], pred: npt.NDArray[Any], classes: int, ignore: int | None, names: Sequence[str]
) -> str:
    """Name the first id outside of the classes and its place; `names` are those of truth and prediction."""
    counted = np.ones(truth.shape, dtype=bool) if ignore is None else truth != ignore
    for name, ids in zip(names, (truth, pred), strict=True):
        wrong = counted & ((ids < 0) | (ids >= classes))
        if wrong.any():
            place = np.unravel_index(int(wrong.argmax()), wrong.shape)
            where = ", ".join(str(int(axis)) for axis in place)
            return f"`{name}` holds {ids[place]} at [{where}], which is none of the {classes} classes"
    return "every id is a class"


def masks(truth: Any, pred: Any, rows: int) -> Counts | None:
    """Count masks of zeros and ones in `rows` parts: both, prediction, truth; `None` for other numbers."""
    flat = [np.ascontiguousarray(array(mask)).reshape(rows, -1) for mask in (truth, pred)]
    if flat[0].dtype != flat[1].dtype:
        return None
    if flat[0].dtype.kind in "iu" and flat[0].dtype.itemsize not in (1, 8):
        flat = [mask.astype(np.int64) for mask in flat]
    elif flat[0].dtype.kind in "iu" and flat[0].dtype != np.int64:
        flat = [mask.view(np.uint8) if mask.dtype.itemsize == 1 else mask.astype(np.int64) for mask in flat]
    return _calipers.count_masks(flat[0], flat[1])

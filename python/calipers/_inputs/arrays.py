"""Arrays of any library as plain NumPy memory: C order, little-endian, without a copy where possible."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers._errors import InputTypeError

ArrayLike = Any
"""NumPy, torch, DLPack, the buffer protocol, or nested lists."""


_WHOLE = (
    "batch", "edge_index", "edges", "flips", "index", "labels", "pred", "ptr", "test_idx", "train_idx",
    "truth", "val_idx", "y", "y_comp", "y_hat", "y_sub",
)  # fmt: skip


def plain(values: ArrayLike, key: str) -> tuple[npt.NDArray[Any], bool]:
    """Return the array, and whether its 16-bit words are bfloat16."""
    array, bfloat16 = _as_numpy(values, key)
    if array.size == 0 and isinstance(values, list | tuple) and key in _WHOLE:
        # A list without elements does not say what they would be.
        array = array.astype(np.int64)
    if array.dtype.name == "bfloat16":
        array, bfloat16 = array.view(np.uint16), True
    if array.dtype.kind not in "buif" or array.dtype.itemsize > 8:
        raise InputTypeError(
            f"'{key}' has a type that is not read\n       at: key {key}\n    found: {array.dtype}\n"
            "  allowed: bool, integers of 8 to 64 bits, f16, bf16, f32, f64"
        )
    if not array.dtype.isnative or array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    # `ascontiguousarray` would give a single value an axis.
    return (array if array.flags.c_contiguous else array.copy(order="C")), bfloat16


def _as_numpy(values: ArrayLike, key: str) -> tuple[npt.NDArray[Any], bool]:
    if isinstance(values, np.ndarray):
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            raise InputTypeError(
                f"'{key}' is a masked array with masked elements\n       at: key {key}\n"
                "     help: leave them out, or mark them by a value to be ignored"
            )
        return np.asarray(values), False
    try:
        if type(values).__module__.partition(".")[0] == "torch":
            return _from_torch(values)
        if hasattr(values, "__dlpack__"):
            return _from_dlpack(values)
        return np.asarray(values), False
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        # What NumPy says of lists is about its arrays.
        said = "rows of different lengths" if isinstance(values, list | tuple) else str(error)
        raise InputTypeError(
            f"'{key}' is no array\n       at: key {key}\n    found: {type(values).__name__} ({said})\n"
            "  allowed: NumPy, torch, DLPack, the buffer protocol, or lists of numbers"
        ) from error


def _from_dlpack(values: Any) -> tuple[npt.NDArray[Any], bool]:
    try:
        return np.from_dlpack(values), False
    except (BufferError, RuntimeError):
        # NumPy has no bfloat16; who made such an array may know how to show it, or torch does.
        torch: Any = sys.modules.get("torch")
        if hasattr(values, "__array__"):
            return np.asarray(values), False
        if torch is None:
            raise
        return _from_torch(torch.from_dlpack(values))


def _from_torch(tensor: Any) -> tuple[npt.NDArray[Any], bool]:
    import torch

    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy(), True
    return tensor.numpy(), False

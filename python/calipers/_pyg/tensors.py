"""Which tensors of torch are plain memory."""

from __future__ import annotations

from typing import Any


def traced(torch: Any) -> bool:
    """Return whether torch follows the operations: while compiling, or in forward differentiation."""
    return torch.compiler.is_compiling() or getattr(torch.autograd.forward_ad, "_current_level", -1) >= 0


def plain(torch: Any, tensor: Any) -> Any:
    """Return the memory of a tensor as a NumPy array; `None` where it is not plain CPU memory."""
    if type(tensor) is not torch.Tensor:
        return None
    try:
        # Refused for tensors that want a gradient, lie elsewhere or stand for a batch.
        return tensor.numpy()
    except (RuntimeError, TypeError):
        return None

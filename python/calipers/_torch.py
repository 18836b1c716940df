"""Functions that torch differentiates; the only module that needs torch."""

from __future__ import annotations

from typing import Any

import torch

from calipers import _calipers


class IndependentSetLoss(torch.autograd.Function):
    """The loss of a batch of graphs with its gradient in closed form."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, *given: Any) -> torch.Tensor:
        """Compute loss and gradient at once; the gradient waits for `backward`."""
        import json

        edge_index, labels, ptr, pos_weight, feasibility_weight, preset = given
        arrays = {"logits": logits, "edge_index": edge_index, "labels": labels, "ptr": ptr}
        *_, total, grad = _calipers.independent_set_loss_and_grad(
            arrays, json.dumps(pos_weight), feasibility_weight, preset
        )
        ctx.save_for_backward(torch.from_numpy(grad).to(device=logits.device, dtype=logits.dtype))
        return torch.tensor(total, device=logits.device, dtype=logits.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[Any, ...]:
        """Scale the gradient."""
        (grad,) = ctx.saved_tensors
        return (grad * upstream[0], *[None] * 6)

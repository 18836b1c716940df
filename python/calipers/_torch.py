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


class IndependentSetLosses(torch.autograd.Function):
    """The total loss of a batch and its two parts, each with its gradient in closed form."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, *given: Any) -> tuple[torch.Tensor, ...]:
        """Compute losses and gradients at once; the gradients wait for `backward`."""
        import json

        edge_index, labels, ptr, pos_weight, feasibility_weight, preset = given
        arrays = {"logits": logits, "edge_index": edge_index, "labels": labels, "ptr": ptr}

        def found(weight: Any, share: float, labels: Any) -> tuple[float, float, float, Any]:
            these = {**arrays, "labels": labels}
            return _calipers.independent_set_loss_and_grad(these, json.dumps(weight), share, preset)

        bce, feasibility, total, of_total = found(pos_weight, feasibility_weight, labels)
        *_, of_bce = found(pos_weight, 0.0, labels)
        # Labels that are all 1 and weigh nothing leave the feasibility alone.
        *_, of_feasibility = found(0.0, 1.0, torch.ones(len(logits), dtype=torch.int64))
        like = {"device": logits.device, "dtype": logits.dtype}
        ctx.save_for_backward(
            *(torch.from_numpy(grad).to(**like) for grad in (of_total, of_bce, of_feasibility))
        )
        return tuple(torch.tensor(loss, **like) for loss in (total, bce, feasibility))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[Any, ...]:
        """Add up the scaled gradients."""
        grad = sum(grad * scale for grad, scale in zip(ctx.saved_tensors, upstream, strict=True))
        return (grad, *[None] * 6)

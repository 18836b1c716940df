"""Tensors of torch, and losses that it differentiates."""

from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers._calipers import address
from calipers.independent_set import greedy_decode, loss, loss_and_grad

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.compat

EDGES = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
LABELS = torch.tensor([1, 0, 1, 0, 1])


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int32", "bool", "uint8"])
def test_tensors_are_read_where_they_lie(name: str) -> None:
    tensor = torch.zeros(7, dtype=getattr(torch, name))
    assert address(tensor) == tensor.data_ptr()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_of_any_precision_and_stride_decode_alike(name: str) -> None:
    scores = torch.tensor([0.5, 9.0, 0.25, 9.0, 0.75, 9.0], dtype=getattr(torch, name))[::2]
    path = torch.tensor([[0, 1], [1, 0], [1, 2], [2, 1]]).T
    assert greedy_decode(scores, path).tolist() == [True, False, True]


def test_bfloat16_scores_are_widened_exactly() -> None:
    logits = torch.tensor([[[2.0, -1.0]], [[0.5, 3.0]]])
    acc = [cp.segmentation.Evaluator(labels={"original": 2}, kind="logits") for _ in range(2)]
    acc[0].update("a", truth=torch.tensor([[0, 1]]), pred=logits)
    acc[1].update("a", truth=torch.tensor([[0, 1]]), pred=logits.bfloat16())
    assert acc[0].report()["nll"] == pytest.approx(acc[1].report()["nll"], rel=4e-6)


def test_a_tensor_that_wants_a_gradient_can_be_measured() -> None:
    acc = cp.independent_set.Evaluator()
    acc.update("g", edge_index=EDGES, logits=torch.randn(5, requires_grad=True), labels=LABELS)
    assert len(acc) == 1


@pytest.mark.parametrize("preset", ["strict", "document", "trm-mis-head"])
@pytest.mark.parametrize("ptr", [None, [0, 3, 5]])
def test_the_gradient_is_the_derivative(preset: Any, ptr: Any) -> None:
    weight: Any = "graph" if preset == "strict" else "pooled"
    logits = torch.tensor([0.3, -1.2, 0.8, 2.0, -0.4], dtype=torch.float64, requires_grad=True)

    def total(z: Any) -> Any:
        return loss(z, EDGES, LABELS, ptr, pos_weight=weight, feasibility_weight=0.7, preset=preset)

    assert torch.autograd.gradcheck(total, (logits,))
    (3 * total(logits)).backward()
    expected = loss_and_grad(
        logits, EDGES, LABELS, ptr, pos_weight=weight, feasibility_weight=0.7, preset=preset
    )
    assert torch.allclose(logits.grad, 3 * torch.from_numpy(expected.grad), rtol=1e-15)
    assert total(logits).item() == expected.loss_total


def test_the_gradient_has_the_precision_of_the_logits() -> None:
    for name in ("float16", "float32", "float64"):
        logits = torch.zeros(5, dtype=getattr(torch, name))
        assert loss_and_grad(logits, EDGES, LABELS).grad.dtype == np.dtype(name)
    half = torch.zeros(5, dtype=torch.bfloat16, requires_grad=True)
    loss(half, EDGES, LABELS).backward()
    assert half.grad.dtype == torch.bfloat16

"""Tensors whose memory is not what they mean are read as what they mean, short ones and long ones."""

from typing import Any

import pytest

from calipers._pyg.passes import _changed, _divergence

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.compat


def probabilities(rows: int, dtype: Any = torch.float32) -> Any:
    return torch.rand(rows, 4, dtype=dtype, generator=torch.Generator().manual_seed(rows)).softmax(-1)


def divergence(p: Any, q: Any) -> float:
    kl = torch.nn.functional.kl_div(p.detach().log(), q.detach(), reduction="batchmean")
    return 1 - float(torch.exp(-kl))


FORMS = {
    "plain": lambda p: p,
    "wanting a gradient": lambda p: p.clone().requires_grad_(),
    "the negative of its memory": lambda p: torch._neg_view(-p),
    "transposed": lambda p: p.t().contiguous().t(),
    "every second element": lambda p: torch.stack([p, -p], dim=-1).flatten(1)[:, ::2],
    "one row for all": lambda p: p[:1].expand(len(p), -1),
    "inference": lambda p: torch.inference_mode()(lambda: p.clone())(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 7, 9000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores(form: str, rows: int, dtype: Any) -> None:
    p, q = probabilities(rows, dtype), probabilities(rows, dtype).flip(0).roll(1, 1)
    shaped = FORMS[form](p)
    expected = divergence(shaped, q)
    assert abs(_divergence(shaped, q, "probs") - expected) <= 2e-6
    assert abs(_divergence(q, shaped, "probs") - divergence(q, shaped)) <= 2e-6


def test_a_tensor_of_zeros_that_has_no_memory() -> None:
    zero, q = torch._efficientzerotensor((3, 4)), probabilities(3)
    assert _divergence(zero, q, "probs") == divergence(torch.zeros(3, 4), q) == 1.0


@pytest.mark.parametrize("shape", [(), (0,), (5,), (5, 1), (2, 1, 2, 1, 2), (40_000,)])
@pytest.mark.parametrize("of_truth", [False, True])
def test_labels(shape: tuple[int, ...], of_truth: bool) -> None:
    y, y_hat, y_sub, y_comp = (torch.randint(0, 3, shape) for _ in range(4))
    found = _changed(y, y_hat if of_truth else None, y_sub, y_comp)
    if of_truth:
        right = (y_hat == y).float()
        expected = [(right - (other == y).float()).abs().mean() for other in (y_comp, y_sub)]
    else:
        expected = [1.0 - (other == y).float().mean() for other in (y_comp, y_sub)]
    assert repr(found) == repr(tuple(map(float, expected)))


def test_labels_of_other_types_and_shapes_are_left_to_torch() -> None:
    y, other = torch.tensor([0, 1, 2, 1]), torch.tensor([0, 1, 1, 1])
    expected = 1.0 - float((other == y).float().mean())
    for change in (
        torch.Tensor.int,
        torch.Tensor.float,
        lambda labels: torch.stack([labels, labels])[:, ::1],
    ):
        assert _changed(y, None, change(other), change(other))[0] == expected
    assert _changed(y.view(4, 1), None, other, other)[0] == 1.0 - float(
        (other == y.view(4, 1)).float().mean()
    )

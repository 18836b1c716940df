"""Tensors on a GPU give the numbers of the same tensors on the CPU, and metrics follow their device."""

import copy
import pickle
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import calipers as cp

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = [
    pytest.mark.compat,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]
GPU = "cuda"


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(3)


def moved(value: Any) -> Any:
    """Everything inside that is a tensor, on the GPU."""
    if isinstance(value, torch.Tensor):
        return value.to(GPU)
    if isinstance(value, dict):
        return {key: moved(inner) for key, inner in value.items()}
    return [moved(inner) for inner in value] if isinstance(value, list | tuple) else value


def same_states(make: Callable[[], Any], **arrays: Any) -> None:
    """Measure on both devices and compare the bytes of the states."""
    here, there = make(), make()
    here.update("unit", **arrays)
    there.update("unit", **moved(arrays))
    assert len(there) == 1
    assert here.to_bytes() == there.to_bytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("strided", [False, True])
def test_segmentation_scores(dtype: Any, strided: bool) -> None:
    scores = torch.randn(5, 33, 41).to(dtype)
    truth = torch.randint(0, 5, (33, 41))
    if strided:
        scores, truth = scores.transpose(1, 2), truth.t()
    same_states(
        lambda: cp.segmentation.Evaluator({"original": 5}, kind="logits", measure="all"),
        truth=truth, pred=scores,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_segmentation_labels(dtype: Any) -> None:
    truth, pred = (torch.randint(0, 5, (33, 41)).to(dtype) for _ in range(2))
    same_states(lambda: cp.segmentation.Evaluator({"original": 5}, kind="labels"), truth=truth, pred=pred)


def test_segmentation_heads() -> None:
    heads = [{"name": "a", "kind": "probs"}, {"name": "b", "kind": "logits"}]
    scores = torch.rand(3, 6, 7)
    same_states(
        lambda: cp.segmentation.Evaluator({"original": 3}, heads=heads),
        truth=torch.randint(0, 3, (6, 7)),
        pred={"a": scores / scores.sum(0), "b": torch.randn(3, 6, 7)},
    )


def test_graphs() -> None:
    ends = torch.randint(0, 50, (2, 120))
    edges = torch.cat([ends, ends.flip(0)], dim=1)
    same_states(
        lambda: cp.independent_set.Evaluator(),
        edge_index=edges, logits=torch.randn(50), labels=torch.randint(0, 2, (50,)),
    )  # fmt: skip


def test_the_loss_of_graphs_and_its_gradient_stay_on_the_device() -> None:
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    labels, logits = torch.tensor([1, 0, 1]), torch.randn(3, dtype=torch.float64)
    losses, grads = [], []
    for device in ("cpu", GPU):
        leaf = logits.clone().to(device).requires_grad_()
        loss = cp.independent_set.loss(leaf, edges.to(device), labels.to(device))
        loss.backward()
        assert loss.device.type == leaf.grad.device.type == device
        losses.append(loss.item())
        grads.append(leaf.grad.cpu())
    assert losses[0] == losses[1]
    assert torch.equal(*grads)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_explanations(dtype: Any) -> None:
    scores = {key: torch.randn(9, 4).to(dtype) for key in ("y_hat", "y_sub", "y_comp")}
    masks = {"node": torch.rand(9, 4).to(dtype), ("a", "to", "b"): torch.rand(30).to(dtype)}
    same_states(
        lambda: cp.explanation.Evaluator(scores="logits"),
        **scores, y=torch.randint(0, 4, (9,)), index=torch.rand(9) < 0.6, pred_mask=masks,
        target_mask={key: mask > 0.5 for key, mask in masks.items()},
    )  # fmt: skip


def test_training_and_robustness() -> None:
    values = torch.rand(40, dtype=torch.float64)
    same_states(lambda: cp.training.Evaluator(threshold=0.5), values=values)
    clean = torch.randn(6, 3)
    same_states(lambda: cp.robustness.Evaluator(), clean=clean, attacked={"0.1": clean + torch.randn(6, 3)})


def test_published_functions_answer_on_the_device_of_their_inputs() -> None:
    pos, neg, x = torch.rand(50), torch.rand(50) * 0.9, torch.arange(50)
    for dtype in (torch.float32, torch.float64):
        p, n = pos.to(dtype), neg.to(dtype)
        score = cp.pyg.characterization_score(p.to(GPU), n.to(GPU), 0.3, 0.7)
        assert score.device.type == GPU
        torch.testing.assert_close(score.cpu(), cp.pyg.characterization_score(p, n, 0.3, 0.7))
        area = cp.pyg.fidelity_curve_auc(p.to(GPU), n.to(GPU), x.to(GPU))
        assert area.device.type == GPU
        torch.testing.assert_close(area.cpu(), cp.pyg.fidelity_curve_auc(p, n, x))
    truth = torch.randint(0, 2, (50,))
    found = cp.pyg.groundtruth_metrics(pos.to(GPU), truth.to(GPU))
    assert found[:4] == cp.pyg.groundtruth_metrics(pos, truth)[:4]
    assert abs(found[4] - cp.pyg.groundtruth_metrics(pos, truth)[4]) <= 1e-6


def explained(device: str, kind: str) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(5)
    passes = [torch.randn(20, 3, generator=generator).to(device) for _ in range(3)]
    explainer = SimpleNamespace(
        model_config=SimpleNamespace(mode="multiclass_classification", return_type="raw"),
        explanation_type=kind,
        node_mask_type=None,
        get_prediction=lambda *_, **__: passes[0],
        get_masked_prediction=lambda *_, **__: passes[1],
        get_target=lambda scores: scores.argmax(-1),
    )

    class Explained(dict[str, Any]):
        x = edge_index = None
        _model_args = ()
        target = passes[2].argmax(-1)

    return explainer, Explained(prediction=passes[2])


@pytest.mark.parametrize("kind", ["model", "phenomenon"])
def test_published_functions_of_explainers(kind: str) -> None:
    here, there = explained("cpu", kind), explained(GPU, kind)
    # Torch's means may end in another bit on a GPU: the published formula is asked on the same device.
    for explainer, explanation in (here, there):
        right = explainer.get_prediction().argmax(-1) == explanation.target
        kept = explainer.get_masked_prediction().argmax(-1) == explanation.target
        change = 1.0 - kept.float().mean() if kind == "model" else (right.float() - kept.float()).abs().mean()
        assert cp.pyg.fidelity(explainer, explanation) == (change.item(), change.item())
    assert abs(cp.pyg.unfaithfulness(*there) - cp.pyg.unfaithfulness(*here)) <= 2e-6


def test_a_metric_moves_with_its_model() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
        from calipers.torchmetrics import Segmentation

        truth, scores = torch.randint(0, 3, (4, 5, 7)), torch.randn(4, 3, 5, 7)

        def measured(device: str) -> Any:
            metric = Segmentation({"original": 3}, kind="logits", metrics=["miou", "iou", "nll"]).to(device)
            metric.update(scores[:2].to(device), truth[:2].to(device), ["a", "b"])
            return metric

        here, there = measured("cpu"), measured(GPU)
        there.update(scores[2:].to(GPU), truth[2:].to(GPU), ["c", "d"])
        # A metric that has measured something changes sides, and goes on.
        here.to(GPU)
        here.update(scores[2:].to(GPU), truth[2:].to(GPU), ["c", "d"])
        expected = {id: value.cpu() for id, value in there.compute().items()}
        for metric in (there, here, there.clone(), pickle.loads(pickle.dumps(there)), copy.deepcopy(there)):
            assert all(value.device.type == GPU for value in metric.compute().values())
        for metric in (here, there, there.clone().cpu()):
            found = {id: value.cpu() for id, value in metric.compute().items()}
            assert found.keys() == expected.keys()
            assert all(torch.equal(value, expected[id]) for id, value in found.items())
        with pytest.raises(cp.DuplicateError, match="a"):
            here.update(scores[:1].to(GPU), truth[:1].to(GPU), ["a"])
        here.reset()
        assert here.report().units == 0

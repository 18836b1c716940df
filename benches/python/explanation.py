"""`calipers.pyg` against torch_geometric: one process, one thread, warm."""

import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch_geometric.explain import metric as peer
from torch_geometric.explain.config import ExplanationType, ModelMode, ModelReturnType

from calipers import pyg


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """Return the CPU time of one call, the best of several rounds."""
    best = float("inf")
    once = time.process_time()
    call()
    repeats = max(1, min(2000, int(0.02 / max(time.process_time() - once, 1e-6))))
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeats):
            call()
        best = min(best, (time.process_time() - start) / repeats)
    return best


def line(job: str, goal: float, function: str, *given: Any, rounds: int = 7) -> None:
    """Print one row of the table."""
    ours = seconds(lambda: getattr(pyg, function)(*given), rounds)
    theirs = seconds(lambda: getattr(peer, function)(*given), min(rounds, 5))
    ratio = theirs / ours
    met = "yes" if ratio >= goal else "no"
    print(
        f"| {job} | {ours * 1e6:,.1f} us | {theirs * 1e6:,.1f} us | {ratio:.1f} | {goal:g} | {met} |",
        flush=True,
    )


class Ready:
    """An explainer that has its predictions already, so that only the metric is timed."""

    node_mask_type = None

    def __init__(self, kind: str, predictions: list[Any], of: str = "model") -> None:
        mode, scores = ModelMode("multiclass_classification"), ModelReturnType(kind)
        self.model_config = SimpleNamespace(mode=mode, return_type=scores)
        self.explanation_type = ExplanationType(of)
        self.predictions, self.turn = predictions, 0

    def get_prediction(self, *_: Any, **__: Any) -> Any:
        """Hand out the predictions in turn."""
        self.turn += 1
        return self.predictions[self.turn % len(self.predictions)]

    get_masked_prediction = get_prediction

    def get_target(self, prediction: Any) -> Any:
        """Return labels as they are."""
        return prediction


class Explained(dict[str, Any]):
    """An explanation without masks."""

    _model_args = ()
    x = edge_index = None

    @property
    def target(self) -> Any:
        """The labels."""
        return self["target"]


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print("| job | Calipers | torch_geometric | ratio | goal | met |\n|---|--:|--:|--:|--:|---|")
    for size in (4, 100, 1000):
        pos, neg, x = torch.rand(size), torch.rand(size), torch.arange(size)
        line(f"characterization_score, {size}", 5, "characterization_score", pos, neg)
        line(f"fidelity_curve_auc, {size}", 5, "fidelity_curve_auc", pos, neg, x)
    for size in (100, 1000):
        line(
            f"groundtruth_metrics, {size}, all five",
            20,
            "groundtruth_metrics",
            torch.rand(size),
            torch.rand(size),
        )
    for size, goals in ((1000, (5, 5)), (10**7, (3, 1.5))):
        y = [torch.randint(0, 7, (size,)) for _ in range(4)]
        for kind, goal in (("phenomenon", goals[0]), ("model", goals[1])):
            explainer, explanation = Ready("raw", y[1:], kind), Explained(target=y[0])
            line(f"fidelity of labels, {kind}, {size:,}", goal, "fidelity", explainer, explanation)
    for size, kind, goal in ((25, "raw", 5), (10**6, "raw", 4), (10**6, "probs", 4)):
        scores = [
            torch.randn(size, 40).softmax(-1) if kind == "probs" else torch.randn(size, 40) for _ in range(2)
        ]
        explainer, explanation = Ready(kind, scores), Explained(prediction=scores[0])
        job = f"unfaithfulness, {kind}, {size:,} x 40"
        line(job, goal, "unfaithfulness", explainer, explanation, rounds=3)
    size = 10**7
    pos, neg, x = torch.rand(size), torch.rand(size) * 0.9, torch.arange(size, dtype=torch.float32)
    line("characterization_score, 10 million", 2, "characterization_score", pos, neg, rounds=3)
    line("fidelity_curve_auc, 10 million", 2, "fidelity_curve_auc", pos, neg, x, rounds=3)
    truth = torch.rand(size)
    coarse = torch.randint(0, 257, (size,)) / 256
    for job, goal, pred, metrics in (
        ("all five, 10 million", 8, pos, None),
        ("auroc, 10 million", 5, pos, "auroc"),
        ("auroc, 10 million, 257 values", 5, coarse, "auroc"),
        ("accuracy, 10 million", 10, pos, "accuracy"),
    ):
        line(f"groundtruth_metrics, {job}", goal, "groundtruth_metrics", pred, truth, metrics, rounds=2)


if __name__ == "__main__":
    main()

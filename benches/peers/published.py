"""The same job as `metric_set.py` the way training scripts do it: torch tensors, one graph at a time."""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from metric_set import TIMED_GRAPHS, greedy_decode
from worker import serve


def raw_metrics(logits, labels, edge_index):
    """Losses, feasibility, classification, sizes and confidence of the whole batch."""
    positives = labels.sum().clamp(min=1)
    pos_weight = (labels.numel() - positives).clamp(min=1) / positives
    loss_bce = F.binary_cross_entropy_with_logits(logits, labels, pos_weight=pos_weight)
    probs = torch.sigmoid(logits)
    src, dst = edge_index
    loss_feasibility = (probs[src] * probs[dst]).mean()

    preds = (probs > 0.5).float()
    tp = (preds * labels).sum()
    fp = (preds * (1 - labels)).sum()
    fn = ((1 - preds) * labels).sum()
    precision = tp / (tp + fp + 1e-8)
    recall = tp / (tp + fn + 1e-8)
    mask = preds.bool()
    violations = (mask[src] & mask[dst]).sum().float()
    correct = (preds == labels).float()
    return {
        "loss_bce": loss_bce.item(),
        "loss_feasibility": loss_feasibility.item(),
        "feasibility": 1.0 - (violations / edge_index.size(1)).clamp(max=1.0).item(),
        "num_violations": (violations / 2).ceil().item(),
        "accuracy": correct.mean().item(),
        "precision": precision.item(),
        "recall": recall.item(),
        "f1": (2 * precision * recall / (precision + recall + 1e-8)).item(),
        "set_size_ratio": (preds.sum() / (positives + 1e-8)).item(),
        "q_hat": (correct * (probs - 0.5).abs() * 2).mean().item(),
    }


def postprocessing_metrics(logits, labels, edge_index, batch, graphs):
    """Decode size, gap and ratios of the first `graphs` graphs of the batch."""
    probs = torch.sigmoid(logits)
    rows = []
    for graph in range(graphs):
        inside = batch == graph
        nodes = inside.nonzero(as_tuple=True)[0]
        edges = edge_index[:, inside[edge_index[0]] & inside[edge_index[1]]]
        local = torch.full((batch.numel(),), -1, dtype=torch.long)
        local[nodes] = torch.arange(nodes.numel())
        size = greedy_decode(probs[nodes].numpy(), local[edges].numpy(), nodes.numel())
        optimal = labels[nodes].sum().item()
        rows.append((size, optimal - size, (optimal - size) / (optimal + 1e-8), size / (optimal + 1e-8)))
    return np.mean(rows, axis=0)


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    edge_index, logits, labels, ptr = (
        torch.from_numpy(np.load(folder / f"{key}.npy")) for key in ("edge_index", "logits", "labels", "ptr")
    )
    labels = labels.float()
    graphs = ptr.numel() - 1
    batch = torch.repeat_interleave(torch.arange(graphs), ptr.diff())
    timed = min(graphs, TIMED_GRAPHS)
    serve(
        {
            "raw": lambda: raw_metrics(logits, labels, edge_index),
            "post": lambda: postprocessing_metrics(logits, labels, edge_index, batch, timed),
        }
    )


if __name__ == "__main__":
    main()

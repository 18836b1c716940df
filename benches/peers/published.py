"""The same job as `metric_set.py` the way the published training script does it: torch tensors, one graph at a time.

Post-processing takes the steps of that script, in words of our own: the edges of a graph are found by looking up
the graph of both ends of every edge of the batch, adjacency and decode go through NumPy's integers (not Python's),
violations are counted per graph, and the decoded set is written into a tensor node by node. The raw metrics are
those of the document.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from metric_set import TIMED_GRAPHS
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


def greedy_decode(probs, edges):
    """The greedy set of one graph: how many nodes it has, and which."""
    ends = edges.numpy()
    neighbours = {node: set() for node in range(len(probs))}
    for a, b in zip(ends[0], ends[1]):
        neighbours[a].add(b)
        neighbours[b].add(a)
    taken, closed = set(), set()
    for node in np.argsort(-probs.numpy()):
        if node not in closed:
            taken.add(node)
            closed.add(node)
            for neighbour in neighbours[node]:
                closed.add(neighbour)
    decoded = torch.zeros(len(probs))
    for node in taken:
        decoded[node] = 1.0
    return len(taken), decoded


def postprocessing_metrics(logits, labels, edge_index, batch, graphs):
    """Decode size, gap, ratios and violations of the first `graphs` graphs of the batch."""
    probs = torch.sigmoid(logits)
    rows = []
    for graph in range(graphs):
        inside = batch == graph
        nodes = torch.where(inside)[0]
        own = edge_index[:, (batch[edge_index[0]] == graph) & (batch[edge_index[1]] == graph)]
        place = torch.zeros(batch.numel(), dtype=torch.long)
        place[nodes] = torch.arange(nodes.numel())
        edges = place[own]
        chosen = probs[inside] > 0.5
        violations = (chosen[edges[0]] & chosen[edges[1]]).sum().float().item()
        optimal = labels[inside].sum().item()
        size, _ = greedy_decode(probs[inside], edges)
        rows.append((size, optimal - size, (optimal - size) / optimal, size / optimal, violations))
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

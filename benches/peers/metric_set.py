"""The usual way to score a packed batch of graphs: NumPy for the raw metrics, dicts of sets for the decode.

Each graph's edges are picked out of the whole batch's `edge_index` by a mask, so the time per graph
grows with the batch.
"""

import sys
from pathlib import Path

import numpy as np
from worker import serve

# Post-processing costs the same for every graph of a batch: beyond this many it is timed on the
# first ones and scaled by the caller.
TIMED_GRAPHS = 16


def raw_metrics(logits, labels, edge_index):
    """Losses, feasibility, classification, sizes and confidence of the whole batch."""
    probs = 1.0 / (1.0 + np.exp(-logits))
    positives = labels.sum()
    pos_weight = (len(labels) - positives) / max(positives, 1)
    loss_bce = np.mean(pos_weight * labels * np.logaddexp(0, -logits) + (1 - labels) * np.logaddexp(0, logits))
    src, dst = edge_index
    loss_feasibility = np.mean(probs[src] * probs[dst])

    preds = (probs > 0.5).astype(np.float32)
    tp = (preds * labels).sum()
    fp = (preds * (1 - labels)).sum()
    fn = ((1 - preds) * labels).sum()
    precision = tp / (tp + fp + 1e-8)
    recall = tp / (tp + fn + 1e-8)
    mask = preds > 0.5
    violations = float((mask[src] & mask[dst]).sum())
    correct = (preds == labels).astype(np.float32)
    return {
        "loss_bce": loss_bce,
        "loss_feasibility": loss_feasibility,
        "feasibility": 1.0 - min(violations / edge_index.shape[1], 1.0),
        "num_violations": np.ceil(violations / 2),
        "accuracy": correct.mean(),
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall + 1e-8),
        "set_size_ratio": preds.sum() / (positives + 1e-8),
        "q_hat": (correct * np.abs(probs - 0.5) * 2).mean(),
    }


def greedy_decode(probs, edge_index, num_nodes):
    """Takes nodes by falling probability, each unless a neighbour was taken."""
    adjacent = {node: set() for node in range(num_nodes)}
    for u, v in zip(*edge_index.tolist()):
        adjacent[u].add(v)
        adjacent[v].add(u)
    chosen, blocked = set(), set()
    for node in np.argsort(-probs).tolist():
        if node not in blocked:
            chosen.add(node)
            blocked.add(node)
            for neighbour in adjacent[node]:
                blocked.add(neighbour)
    return len(chosen)


def postprocessing_metrics(logits, labels, edge_index, batch, graphs):
    """Decode size, gap and ratios of the first `graphs` graphs of the batch."""
    probs = 1.0 / (1.0 + np.exp(-logits))
    rows = []
    for graph in range(graphs):
        inside = batch == graph
        nodes = np.flatnonzero(inside)
        edges = edge_index[:, inside[edge_index[0]] & inside[edge_index[1]]] - nodes[0]
        size = greedy_decode(probs[nodes], edges, len(nodes))
        optimal = labels[nodes].sum()
        rows.append((size, optimal - size, (optimal - size) / (optimal + 1e-8), size / (optimal + 1e-8)))
    return np.mean(rows, axis=0)


def main() -> None:
    folder = Path(sys.argv[1])
    edge_index, logits, labels, ptr = (
        np.load(folder / f"{key}.npy") for key in ("edge_index", "logits", "labels", "ptr")
    )
    labels = labels.astype(np.float32)
    graphs = len(ptr) - 1
    batch = np.repeat(np.arange(graphs), np.diff(ptr))
    timed = min(graphs, TIMED_GRAPHS)
    serve(
        {
            "raw": lambda: raw_metrics(logits, labels, edge_index),
            "post": lambda: postprocessing_metrics(logits, labels, edge_index, batch, timed),
        }
    )


if __name__ == "__main__":
    main()

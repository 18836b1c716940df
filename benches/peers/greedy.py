"""Greedy decodes of every graph of a pack: a numba loop over compressed rows, and a dict of sets."""

import sys
from pathlib import Path

import numpy as np
from metric_set import greedy_decode
from numba import njit
from worker import serve


@njit
def take_in_order(order, offsets, neighbours):
    """Takes nodes in the given order, each unless a neighbour was taken."""
    taken = np.zeros(len(order), np.bool_)
    blocked = np.zeros(len(order), np.bool_)
    for node in order:
        if not blocked[node]:
            taken[node] = True
            for i in range(offsets[node], offsets[node + 1]):
                blocked[neighbours[i]] = True
    return taken


def csr(edge_index, nodes):
    """Compressed rows of entries that hold both directions of every edge once."""
    order = np.argsort(edge_index[0], kind="stable")
    offsets = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(edge_index[0], minlength=nodes), out=offsets[1:])
    return offsets, edge_index[1][order]


def main() -> None:
    folder = Path(sys.argv[1])
    edge_index, all_logits, ptr = (np.load(folder / f"{key}.npy") for key in ("edge_index", "logits", "ptr"))
    graphs = []
    for first, end in zip(ptr[:-1], ptr[1:]):
        inside = (edge_index[0] >= first) & (edge_index[0] < end)
        edges = np.ascontiguousarray(edge_index[:, inside] - first)
        logits = all_logits[first:end]
        graphs.append((edges, logits, *csr(edges, len(logits))))

    def ready():
        for _, logits, offsets, neighbours in graphs:
            take_in_order(np.argsort(-logits, kind="stable"), offsets, neighbours)

    def built():
        for edges, logits, _, _ in graphs:
            take_in_order(np.argsort(-logits, kind="stable"), *csr(edges, len(logits)))

    def sets():
        for edges, logits, _, _ in graphs:
            greedy_decode(logits, edges, len(logits))

    ready()
    serve({"ready": ready, "built": built, "sets": sets})


if __name__ == "__main__":
    main()

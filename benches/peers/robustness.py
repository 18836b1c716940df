"""Estimation bias and edge differences of a large graph in plain double precision."""

import sys
from pathlib import Path

import numpy as np
from worker import serve

COLUMNS = 40
BINS = 50


def squares(clean, attacked):
    """The sum of squared differences."""
    difference = attacked - clean
    return (difference * difference).sum()


def differences(features, edges, degrees):
    """Gather both ends, take norms, count."""
    normalised = features / np.sqrt(degrees)[:, None]
    norms = np.linalg.norm(normalised[edges[0]] - normalised[edges[1]], axis=1)
    return np.histogram(norms, bins=BINS, density=True), norms.mean()


def main() -> None:
    folder = Path(sys.argv[1])
    clean, attacked = (np.load(folder / f"{name}.npy").reshape(-1, COLUMNS) for name in ("clean", "attacked"))
    edges = np.load(folder / "edges.npy")
    both_ways = np.concatenate([edges, edges[::-1]], axis=1)
    degrees = 1 + np.bincount(both_ways[0], minlength=len(clean))
    serve(
        {
            "squares": lambda: squares(clean, attacked),
            "both_ways": lambda: differences(attacked, both_ways, degrees),
            "once": lambda: differences(attacked, edges, degrees),
        }
    )


if __name__ == "__main__":
    main()

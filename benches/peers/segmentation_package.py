"""The evaluator of the Python package on a pair of maps in memory; the peer is the same update in Rust."""

import itertools
import sys
import time
from pathlib import Path

import numpy as np

import calipers

# What takes less is repeated.
SHORT = 0.01


def updates(kind: str, measure: list[str], truth: np.ndarray, pred: np.ndarray) -> float:
    """Return the CPU time of one update; of a short one the mean of some."""
    evaluator = calipers.segmentation.Evaluator(
        labels={"original": 19, "ignore": [255]}, kind=kind, measure=measure
    )
    names = (f"unit {number}" for number in itertools.count())
    start = time.process_time()
    evaluator.update(next(names), truth=truth, pred=pred)
    repeats = 20 if time.process_time() - start < SHORT else 1
    start = time.process_time()
    for _ in range(repeats):
        evaluator.update(next(names), truth=truth, pred=pred)
    return (time.process_time() - start) / repeats


def main() -> None:
    folder = Path(sys.argv[1])
    truth, pred, logits = (np.load(folder / f"{name}.npy") for name in ("truth", "pred", "logits"))
    logits = logits.reshape(19, *truth.shape)
    jobs = {
        "overlap": lambda: updates("labels", ["overlap"], truth, pred),
        "boundaries": lambda: updates("labels", ["overlap", "boundary", "cheng", "contour"], truth, pred),
        "logits": lambda: updates("logits", ["overlap", "calibration"], truth, logits),
    }
    # The evaluator and its first update are left out, so the time is taken here and not by the worker.
    print("ready", flush=True)
    for line in sys.stdin:
        print(jobs[line.strip()](), flush=True)


if __name__ == "__main__":
    main()

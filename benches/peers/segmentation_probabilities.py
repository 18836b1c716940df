"""NLL, Brier, ECE and the confusion matrix from logits, with NumPy."""

import sys
from pathlib import Path

import numpy as np
from worker import serve

BINS = 10


def scores(logits, truth):
    """`logits` is classes by pixels; the scored pixels are picked first."""
    scored = truth < len(logits)
    truth = truth[scored].astype(int)
    logits = logits[:, scored].astype(np.float32)
    classes, pixels = logits.shape
    shifted = logits - logits.max(axis=0)
    powers = np.exp(shifted)
    probs = powers / powers.sum(axis=0)
    pred = probs.argmax(axis=0)
    own = probs[truth, np.arange(pixels)]
    nll = -np.log(own).mean()
    brier = ((probs**2).sum(axis=0) - 2 * own + 1).mean()
    confidence = probs.max(axis=0)
    bins = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    correct = np.bincount(bins, pred == truth, BINS)
    ece = np.abs(correct - np.bincount(bins, confidence, BINS)).sum() / pixels
    confusion = np.bincount(classes * truth + pred, minlength=classes**2)
    return nll, brier, ece, confusion


def main() -> None:
    folder = Path(sys.argv[1])
    truth = np.load(folder / "truth.npy").ravel()
    logits = np.load(folder / "logits.npy")
    halves = logits.astype(np.float16)
    serve({"f32": lambda: scores(logits, truth), "f16": lambda: scores(halves, truth)})


if __name__ == "__main__":
    main()

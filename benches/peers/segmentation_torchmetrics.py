"""Confusion matrix, NLL, Brier and ECE with torchmetrics, which checks its input as its users have it."""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torchmetrics.classification import MulticlassCalibrationError, MulticlassConfusionMatrix
from worker import serve

CLASSES = 19
BINS = 10
VOID = 255


def confusion(pred, truth):
    """`pred` holds classes, or scores with an axis of classes."""
    metric = MulticlassConfusionMatrix(CLASSES, ignore_index=VOID)
    metric.update(pred, truth)
    return metric.compute()


def suite(logits, truth):
    """One metric after the other, on `logits` of shape 1, classes, height, width."""
    logits = logits.float()
    matrix = confusion(logits, truth)
    calibration = MulticlassCalibrationError(CLASSES, n_bins=BINS, norm="l1", ignore_index=VOID)
    calibration.update(logits, truth)
    nll = F.cross_entropy(logits, truth, ignore_index=VOID)
    scored = truth != VOID
    probs = logits.softmax(dim=1).movedim(1, -1)[scored]
    brier = (probs - F.one_hot(truth[scored], CLASSES)).square().sum(dim=-1).mean()
    return matrix, calibration.compute(), nll.item(), brier.item()


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    truth = torch.from_numpy(np.load(folder / "truth.npy"))[None].long()
    pred = torch.from_numpy(np.load(folder / "pred.npy"))[None].long()
    # Void pixels of the prediction are void in the truth too: any class will do there.
    pred[pred == VOID] = 0
    jobs = {"confusion": lambda: confusion(pred, truth)}
    if (folder / "logits.npy").exists():
        logits = torch.from_numpy(np.load(folder / "logits.npy")).reshape(1, CLASSES, *truth.shape[1:])
        halves = logits.half()
        jobs |= {"f32": lambda: suite(logits, truth), "f16": lambda: suite(halves, truth)}
    serve(jobs)


if __name__ == "__main__":
    main()

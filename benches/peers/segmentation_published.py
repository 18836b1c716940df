"""The same job as `segmentation_probabilities.py` with torch tensors, as training scripts do it."""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from worker import serve

BINS = 10


def scores(logits, truth):
    """`logits` is classes by pixels; the scored pixels are picked first."""
    scored = truth < len(logits)
    truth = truth[scored].long()
    logits = logits[:, scored].float()
    classes, pixels = logits.shape
    log_probs = F.log_softmax(logits, dim=0)
    probs = log_probs.exp()
    confidence, pred = probs.max(dim=0)
    own = log_probs.gather(0, truth[None])[0]
    nll = -own.mean()
    brier = (probs.square().sum(dim=0) - 2 * own.exp() + 1).mean()
    bins = torch.bucketize(confidence, torch.linspace(0, 1, BINS + 1)[1:-1])
    correct = torch.bincount(bins, (pred == truth).double(), BINS)
    ece = (correct - torch.bincount(bins, confidence.double(), BINS)).abs().sum() / pixels
    confusion = torch.bincount(classes * truth + pred, minlength=classes**2)
    return nll.item(), brier.item(), ece.item(), confusion


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    truth = torch.from_numpy(np.load(folder / "truth.npy").ravel())
    logits = torch.from_numpy(np.load(folder / "logits.npy"))
    halves = logits.half()
    serve({"f32": lambda: scores(logits, truth), "f16": lambda: scores(halves, truth)})


if __name__ == "__main__":
    main()

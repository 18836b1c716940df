"""Three heads fused in torch, step by step as the pipeline's document writes it, and measured in the global space."""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from worker import serve

BINS = 10
VOID = 255


def scores(heads, index, to_global, truth):
    """`heads` are of shape 1, channels, height, width; `index` says each original's channel of each head."""
    classes = int(to_global.max()) + 1
    fused = 0
    for logits, channels in zip(heads, index, strict=True):
        logp = F.log_softmax(logits.float(), dim=1)
        fused = fused + logp[:, channels]
    original = fused.exp()
    probs = original.new_zeros(1, classes, *original.shape[2:])
    probs.index_add_(1, to_global, original)
    probs = probs / probs.sum(dim=1, keepdim=True)

    valid = truth != VOID
    truth = truth[valid]
    probs = probs[0][:, valid]
    confidence, pred = probs.max(dim=0)
    nll = -probs.gather(0, truth[None])[0].log().mean()
    brier = (probs - F.one_hot(truth, classes).T).square().sum(dim=0).mean()
    bins = torch.bucketize(confidence, torch.linspace(0, 1, BINS + 1)[1:-1])
    correct = torch.bincount(bins, (pred == truth).double(), BINS)
    ece = (correct - torch.bincount(bins, confidence.double(), BINS)).abs().sum() / truth.numel()
    confusion = torch.bincount(classes * truth + pred, minlength=classes**2)
    return nll.item(), brier.item(), ece.item(), confusion


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    truth = torch.from_numpy(np.load(folder / "truth.npy")).long()
    index = [torch.from_numpy(channels).long() for channels in np.load(folder / "index.npy")]
    heads = []
    for place in range(len(index)):
        planes = torch.from_numpy(np.load(folder / f"head{place}.npy"))
        heads.append(planes.reshape(1, -1, *truth.shape))
    to_global = torch.arange(len(index[0]))
    halves = [logits.half() for logits in heads]
    serve({
        "f32": lambda: scores(heads, index, to_global, truth),
        "f16": lambda: scores(halves, index, to_global, truth),
    })


if __name__ == "__main__":
    main()

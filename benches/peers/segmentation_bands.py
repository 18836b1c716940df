"""Bands and contours of two label maps, class by class with OpenCV."""

import sys
from pathlib import Path

import cv2
import numpy as np
from worker import serve

CLASSES = 19
# 0.75 % of the diagonal of 1024 x 2048.
RADIUS = 17
SQUARE = np.ones((3, 3), np.uint8)


def overlap(bands):
    """Sizes of two bands and of what they share."""
    truth, pred = bands
    return (truth & pred).sum(), truth.sum(), pred.sum()


def outer(maps, scored, thickness):
    """Dilations minus the mask, of every class."""
    counts = []
    for label in range(CLASSES):
        masks = [(m == label).astype(np.uint8) for m in maps]
        counts.append(overlap([cv2.dilate(m, SQUARE, iterations=thickness) & ~m & scored for m in masks]))
    return counts


def inner(maps, scored, distance):
    """The mask minus its erosions, of every class; the outside of the image erodes."""
    counts = []
    for label in range(CLASSES):
        bands = []
        for m in maps:
            # Void pixels are padded into the mask, so that they do not erode it.
            mask = (m == label).astype(np.uint8)
            padded = cv2.copyMakeBorder(mask | (1 - scored), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
            bands.append(mask & ~cv2.erode(padded, SQUARE, iterations=distance)[1:-1, 1:-1])
        counts.append(overlap(bands))
    return counts


def contour(maps, scored, radius):
    """Contours of every class, matched within a disk."""
    reach = np.arange(-radius, radius + 1)
    disk = (reach[:, None] ** 2 + reach**2 <= radius**2).astype(np.uint8)
    counts = []
    for label in range(CLASSES):
        edges = []
        for m in maps:
            mask = m == label
            other = ~mask & (scored > 0)
            edge = np.zeros_like(mask)
            edge[1:] |= other[:-1]
            edge[:-1] |= other[1:]
            edge[:, 1:] |= other[:, :-1]
            edge[:, :-1] |= other[:, 1:]
            edges.append((edge & mask).astype(np.uint8))
        truth, pred = edges
        counts.append(((pred & cv2.dilate(truth, disk)).sum(), (truth & cv2.dilate(pred, disk)).sum()))
    return counts


def main() -> None:
    cv2.setNumThreads(1)
    folder = Path(sys.argv[1])
    maps = [np.load(folder / f"{name}.npy") for name in ("truth", "pred")]
    scored = (maps[0] < CLASSES).astype(np.uint8)
    serve(
        {
            "outer 2": lambda: outer(maps, scored, 2),
            "outer 4": lambda: outer(maps, scored, 4),
            "outer 16": lambda: outer(maps, scored, 16),
            "inner 46": lambda: inner(maps, scored, 46),
            "contour": lambda: contour(maps, scored, RADIUS),
        }
    )


if __name__ == "__main__":
    main()

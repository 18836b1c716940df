"""Random cases for drop-ins, and how near a result must be to the library's."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

CASES = 10_000 if os.environ.get("CALIPERS_CAMPAIGN") else 500
"""How many cases each module is compared on; a campaign takes twenty times as many."""


def cases(seed: int, share: int = 1) -> Iterator[np.random.Generator]:
    """Give a generator to each of the cases, or to one of `share` parts of them."""
    for number in range(-(-CASES // share)):
        yield np.random.default_rng([seed, number])


def near(found: Any, expected: Any, batches: int = 1) -> bool:
    """Within 4 ulp, and one more for each batch that the library adds up; NaN is NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    size = np.maximum(np.abs(np.nan_to_num(found)), np.abs(np.nan_to_num(expected)))
    gap = np.abs(np.nan_to_num(found) - np.nan_to_num(expected))
    close = gap <= (4 + batches) * np.spacing(size) if found.dtype.kind == "f" else gap == 0
    return bool((close & (np.isnan(found) == np.isnan(expected))).all())


def maps(rng: np.random.Generator, classes: int, shape: tuple[int, ...], ignore: int | None) -> Any:
    """Return truth, some of it ignored, and a prediction that is often right."""
    there = rng.choice(classes, size=rng.integers(1, classes + 1), replace=False)
    truth = rng.choice(there, size=shape)
    pred = np.where(rng.random(shape) < rng.random(), truth, rng.choice(there, size=shape))
    if ignore is not None:
        truth = np.where(rng.random(shape) < 0.2 * rng.random(), ignore, truth)
    return truth.astype(np.int64), pred.astype(np.int64)

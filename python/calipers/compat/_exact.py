"""Quotients and means of whole numbers, exact and rounded once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Exact = Fraction | None
"""A number, or `None` where it is NaN."""


def ratio(part: int, whole: int, otherwise: Exact = None) -> Exact:
    """Return a quotient; `otherwise` where it does not exist."""
    return Fraction(int(part), int(whole)) if whole else otherwise


def ratios(parts: Iterable[int], wholes: Iterable[int], otherwise: Exact = None) -> list[Exact]:
    """Return a quotient for each pair."""
    return [ratio(part, whole, otherwise) for part, whole in zip(parts, wholes, strict=True)]


def weighted(values: Iterable[Exact], weights: Iterable[int], otherwise: Exact = None) -> Exact:
    """Return the weighted mean; values of weight 0 do not count, and need not exist."""
    total, weight = Fraction(0), 0
    for value, one in zip(values, weights, strict=True):
        if one:
            if value is None:
                return None
            total += value * int(one)
            weight += int(one)
    return total / weight if weight else otherwise


def mean(values: Iterable[Exact]) -> Exact:
    """Return the mean of those that exist; `None` where none does."""
    there = [value for value in values if value is not None]
    return sum(there, Fraction(0)) / len(there) if there else None


def single(value: Exact) -> Any:
    """Return the nearest number of single precision."""
    if value is None:
        return np.float32(np.nan)
    return _rounded(value.numerator, value.denominator)


def single_root(value: Exact) -> Any:
    """Return the square root in single precision, rounded once."""
    if value is None or value < 0:
        return np.float32(np.nan)
    # 80 bits more under the root are 40 more in it; what is left over only matters for its being there.
    scale = 40 + max(0, value.denominator.bit_length() - value.numerator.bit_length()) // 2
    inside, rest = divmod(value.numerator << 2 * scale, value.denominator)
    root = math.isqrt(inside)
    sticky = rest != 0 or root * root != inside
    return _rounded(root << 1 | sticky, 1 << scale + 1)


def _rounded(numerator: int, denominator: int) -> Any:
    if not numerator:
        return np.float32(0)
    size = abs(numerator)
    shift = 40 - (size.bit_length() - denominator.bit_length())
    if shift >= 0:
        quotient, rest = divmod(size << shift, denominator)
    else:
        quotient, rest = divmod(size, denominator << -shift)
    # The last of 40 bits says that there is more: then the one rounding below falls as it must.
    nearest = np.float32(math.ldexp(quotient | (rest != 0), -shift))
    return nearest if numerator > 0 else -nearest


def singles(values: Iterable[Exact]) -> npt.NDArray[np.float32]:
    """Return the nearest numbers of single precision."""
    return np.array([single(value) for value in values], dtype=np.float32)


def doubles(values: Iterable[Exact]) -> npt.NDArray[np.float64]:
    """Return the nearest numbers of double precision."""
    return np.array([math.nan if value is None else float(value) for value in values], dtype=np.float64)


def quotients(parts: Counts, wholes: Counts) -> npt.NDArray[np.float32]:
    """Return quotients of whole numbers below 2^53 in single precision; NaN for a division by 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        wide = parts / wholes
    found = wide.astype(np.float32)
    found[np.broadcast_to(wholes == 0, found.shape)] = np.nan
    # A double that lies half-way between two singles may have been rounded to there: those are done again.
    half_way = (wide.view(np.uint64) & 0x1FFFFFFF) == 0x10000000
    wholes = np.broadcast_to(wholes, parts.shape)
    for place in zip(*np.nonzero(half_way & (wholes != 0)), strict=True):
        found[place] = single(Fraction(int(parts[place]), int(wholes[place])))
    return found

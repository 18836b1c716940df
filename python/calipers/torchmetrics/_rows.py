"""What a metric keeps of its batches: the rows without the protocol, and which names it has seen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor


def tensor(data: bytes) -> Tensor:
    """Return bytes as a tensor, which torch moves, gathers and saves."""
    return torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


def data(state: Tensor) -> bytes:
    """Return the bytes of a tensor; a byte has survived any type that the metric was moved to."""
    return bytes(state.detach().cpu().to(torch.uint8).numpy())


def appended(rows: list[Tensor], batch: Tensor) -> list[Tensor]:
    """Return the rows with those of one more batch, in few tensors: each is half as long as the one before.

    Metrics of one compute group share a list, so this is a new one.
    """
    rows = [*rows, batch.to(rows[-1]) if rows else batch]
    while len(rows) > 1 and rows[-2].numel() <= 2 * rows[-1].numel():
        rows[-2:] = [torch.cat(rows[-2:])]
    return rows


class Seen:
    """Names as 64-bit hashes in a few sorted arrays: eight bytes per unit, whatever its name."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Remember these names."""
        self._sorted: list[npt.NDArray[np.uint64]] = []
        self.add(names)

    def add(self, names: Iterable[str]) -> None:
        """Remember more names."""
        hashes = np.sort(_hashes(names))
        if len(hashes):
            self._sorted.append(hashes)
        while len(self._sorted) > 1 and len(self._sorted[-2]) <= 2 * len(self._sorted[-1]):
            self._sorted[-2:] = [np.sort(np.concatenate(self._sorted[-2:]))]

    def may_have(self, names: Iterable[str]) -> bool:
        """Return whether any of these names, or another one of its hash, was seen."""
        wanted = _hashes(names)
        for known in self._sorted:
            places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            if (known[places] == wanted).any():
                return True
        return False


def _hashes(names: Iterable[str]) -> npt.NDArray[np.uint64]:
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(digests, dtype=np.uint64)

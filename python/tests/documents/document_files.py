"""Small files that the examples of the documents read, in formats that NumPy does not write."""

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt


def png(path: str, ids: npt.ArrayLike) -> None:
    """Write a label map as grey PNG."""
    rows = np.asarray(ids, np.uint8)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 0, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    chunks = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def nifti(path: str, ids: npt.ArrayLike) -> None:
    """Write a label volume, z slowest, as NIfTI."""
    volume = np.asarray(ids, np.uint8)
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *volume.shape[::-1], 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 2, 8)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<2f", header, 108, 352, 1)
    header[344:348] = b"n+1\0"
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(bytes(header) + volume.tobytes()))


def two_blocks(path: str, nodes: int = 80) -> None:
    """Write a graph of two classes that rarely mix, with features and labels."""
    random = np.random.default_rng(0)
    labels = np.arange(nodes) % 2
    near = labels[:, None] == labels
    pairs = np.argwhere(np.triu(random.random((nodes, nodes)) < np.where(near, 0.15, 0.02), 1))
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 2) % nodes], axis=1)
    pairs = np.unique(np.sort(np.concatenate([pairs, ring, [[0, 1]]]), axis=1), axis=0)
    features = random.random((nodes, 12)) < np.where(labels[:, None] == np.arange(12) % 2, 0.6, 0.2)
    edges = np.concatenate([pairs, pairs[:, ::-1]]).T
    np.savez(path, edge_index=edges, features=features.astype(np.float32), labels=labels)

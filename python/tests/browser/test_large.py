"""Very many units on one page."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

UNITS = 100_000


def test_a_hundred_thousand_units_open_at_once(
    calipers: Callable[..., str], visit: Callable[..., Any], tmp_path: Path
) -> None:
    lines = (
        json.dumps({"id": f"image_{i:06}", "confusion": [[90 + i % 7, i % 5], [i % 3, 40]]})
        for i in range(UNITS)
    )
    (tmp_path / "cms.jsonl").write_text("\n".join(lines) + "\n")
    calipers(
        "segmentation",
        "--confusion",
        "cms.jsonl",
        "--classes",
        2,
        "--bootstrap",
        20,
        "--html",
        "page.html",
        cwd=tmp_path,
    )
    file = tmp_path / "page.html"
    assert file.stat().st_size <= 20_000_000
    page = visit(file)
    work = page.evaluate(
        "() => performance.getEntriesByType('mark').find((mark) => mark.name === 'ready').startTime"
    )
    assert work <= 2_000, f"interactive after {work:.0f} ms"
    units = page.locator(".units")
    units.locator("thead button").nth(4).click()
    units.get_by_role("searchbox").fill("image_0000")
    assert units.locator("tbody tr").count() == 25


def test_ten_thousand_units_of_two_hundred_classes_open_at_once(
    calipers: Callable[..., str], visit: Callable[..., Any], tmp_path: Path
) -> None:
    def write(path: Path, values: bytes) -> None:
        rows = b"".join(b"\0" + values[at : at + 8] for at in range(0, 64, 8))
        header = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
        chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
        text = b"\x89PNG\r\n\x1a\n"
        for name, data in chunks:
            text += struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        path.write_bytes(text)

    for folder in ("truth", "pred"):
        (tmp_path / folder).mkdir()
    for unit in range(10_000):
        truth = bytes((unit * 7 + k * 31) % 200 for k in range(64))
        write(tmp_path / "truth" / f"image_{unit:05}.png", truth)
        write(tmp_path / "pred" / f"image_{unit:05}.png", truth[:40] + bytes([unit % 200] * 24))
    command = ["segmentation", "--truth", "truth", "--pred", "pred", "--classes", 200, "--bootstrap", 2]
    calipers(*command, "--html", "page.html", cwd=tmp_path)
    made = tmp_path / "page.html"
    assert made.stat().st_size <= 15_000_000
    page = visit(made)
    mark = "() => performance.getEntriesByType('mark').find((mark) => mark.name === 'ready').startTime"
    work = page.evaluate(mark)
    assert work <= 1_000, f"interactive after {work:.0f} ms"
    assert "others" in page.locator(".picture .chart").first.inner_text()

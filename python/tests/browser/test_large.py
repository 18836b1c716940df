"""Very many units on one page."""

from __future__ import annotations

import json
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

"""Names that attack the page: in every text field of a report, and through every family's inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from payloads import PAYLOADS

Visit = Callable[..., Any]
Program = Callable[..., str]

PER_PAGE = 16
COUNTS = """() => ({
    scripts: [...document.scripts].filter((one) => one.type !== 'application/json').length,
    handlers: [...document.querySelectorAll('*')].filter((one) =>
        [...one.attributes].some((attribute) => attribute.name.startsWith('on'))).length,
    styled: document.querySelectorAll('[style]:not(#definition)').length,
    frames: document.querySelectorAll('iframe, object, embed, form, base, link, audio, video').length,
    addresses: [...document.querySelectorAll('[href], [src]')]
        .map((one) => one.getAttribute('href') ?? one.getAttribute('src'))
        .filter((address) => !/^(#|data:image.png;base64,)/.test(address)).length,
})"""


def poke(page: Any) -> None:
    """Use everything on a page that shows text."""
    for details in page.locator("details").all()[:40]:
        details.evaluate("(one) => { one.open = true; }")
    for term in page.locator(".term").all()[:6]:
        term.click()
    for units in page.locator(".units").all():
        for head in units.locator("thead button").all()[:8]:
            head.click()
        units.get_by_role("searchbox").fill("script")
        units.get_by_role("searchbox").fill("")
    for button in page.locator(".switch button").all():
        button.click()
    page.wait_for_timeout(50)


def check(page: Any) -> None:
    poke(page)
    assert page.evaluate(COUNTS) == {"scripts": 1, "handlers": 0, "styled": 0, "frames": 0, "addresses": 0}


def test_there_are_enough_payloads() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 100


def hostile_report(names: list[str]) -> dict[str, Any]:
    text = names[0]
    return {
        "calipers": text,
        "protocol": {"name": "segmentation", "preset": text, "label": text, **{name: name for name in names}},
        "reading": {name: [name, {"x": name}] for name in names},
        "units": 2,
        "metrics": {
            "segmentation.miou": 0.5,
            "segmentation.iou": {name: None if i % 2 else 0.5 for i, name in enumerate(names)},
            **{f"segmentation.{name}": {name: [1.0, {name: 2.0}]} for name in names},
        },
        "undefined": {f"segmentation.iou.{name}": name for i, name in enumerate(names) if i % 2},
        "warnings": [{"code": name, "message": name, "units": [name]} for name in names],
        "inputs": [
            {"path": name, "bytes": 1, "blake3": "0" * 64, "role": name, "note": name}
            for name in sorted(names)
        ],
    }


def test_no_field_of_a_report_becomes_script(calipers: Program, visit: Visit, tmp_path: Path) -> None:
    for start in range(0, len(PAYLOADS), PER_PAGE):
        names = PAYLOADS[start : start + PER_PAGE]
        (tmp_path / "report.json").write_text(json.dumps(hostile_report(names)), encoding="utf-8")
        calipers("show", "report.json", "--html", "page.html", cwd=tmp_path)
        check(visit(tmp_path / "page.html"))


def test_no_class_and_no_image_becomes_script(calipers: Program, visit: Visit, tmp_path: Path) -> None:
    names = [name for name in PAYLOADS if name.strip() == name and name.isprintable()]
    for start in range(0, len(names), PER_PAGE):
        some = names[start : start + PER_PAGE]
        (tmp_path / "classes.json").write_text(json.dumps({str(i): name for i, name in enumerate(some)}))
        matrix = [[10 + 3 * (i == k) for k in range(len(some))] for i in range(len(some))]
        lines = [json.dumps({"id": name, "confusion": matrix}) for name in some]
        (tmp_path / "cms.jsonl").write_text("\n".join(lines) + "\n")
        calipers(
            "segmentation",
            "--confusion",
            "cms.jsonl",
            "--classes",
            "classes.json",
            "--html",
            "page.html",
            cwd=tmp_path,
        )
        page = visit(tmp_path / "page.html")
        assert page.locator(".chart svg").count() > 0
        check(page)


def test_no_explained_unit_becomes_script(calipers: Program, visit: Visit, tmp_path: Path) -> None:
    units = [
        {
            "unit": name,
            "y": [0],
            "y_hat": [[0.9, 0.1]],
            "y_sub": [[0.8, 0.2]],
            "y_comp": [[0.3, 0.7]],
            "pred_mask": [0.9, 0.1, 0.4],
            "target_mask": [1, 0, 0],
        }
        for name in PAYLOADS
    ]
    (tmp_path / "units.jsonl").write_text("".join(json.dumps(unit) + "\n" for unit in units))
    calipers("explanation", "units.jsonl", "--scores", "probs", "--html", "page.html", cwd=tmp_path)
    check(visit(tmp_path / "page.html"))


def test_no_run_and_no_group_becomes_script(calipers: Program, visit: Visit, tmp_path: Path) -> None:
    names = [name for name in PAYLOADS if name.strip() == name and name.isprintable() and '"' not in name][
        :60
    ]
    rows = ["run,epoch,val"]
    for name in names:
        cell = '"' + name + '"'
        rows += [f"{cell},{epoch},{0.5 + 0.05 * epoch}" for epoch in range(10)]
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
    calipers(
        "training",
        "runs.csv",
        "--metric",
        "val",
        "--run-column",
        "run",
        "--group-by",
        "column:run",
        "--html",
        "page.html",
        cwd=tmp_path,
    )
    check(visit(tmp_path / "page.html"))


def file_names() -> list[str]:
    """Give the payloads that a file can be called."""
    fits = [name for name in PAYLOADS if "/" not in name and name.isprintable() and name.strip() == name]
    return [name for name in fits if len(name.encode()) < 200 and not name.startswith(".")][:60]


def test_no_graph_becomes_script(calipers: Program, visit: Visit, tmp_path: Path) -> None:
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    lines = []
    for name in file_names():
        (graphs / f"{name}.edges").write_text("0 1\n1 2\n")
        lines.append(json.dumps({"unit": name, "logits": [1.0, 0.5, -1.0], "labels": [1, 0, 1]}) + "\n")
    (tmp_path / "scores.jsonl").write_text("".join(lines))
    sources = ("--graph", "graphs", "--graph-format", "edgelist")
    scores = ("--scores", "scores.jsonl", "--labels", "scores.jsonl")
    calipers("independent-set", *sources, *scores, "--html", "page.html", cwd=tmp_path)
    page = visit(tmp_path / "page.html")
    assert page.locator(".chart svg").count() > 0
    check(page)


def test_no_compared_model_class_or_unit_becomes_script(
    calipers: Program, visit: Visit, tmp_path: Path
) -> None:
    names = [name for name in PAYLOADS if name.strip() == name and name.isprintable()]
    for start in range(0, len(names), PER_PAGE):
        some = names[start : start + PER_PAGE]
        (tmp_path / "classes.json").write_text(json.dumps({str(i): name for i, name in enumerate(some)}))
        for model, hits in (("one", 3), ("two", 9)):
            size = range(len(some))
            rows = []
            for at, name in enumerate(some):
                matrix = [[10 + (hits + at) * (i == k) for k in size] for i in size]
                rows.append(json.dumps({"id": name, "confusion": matrix}))
            (tmp_path / f"{model}.jsonl").write_text("\n".join(rows) + "\n")
            source = ("--confusion", f"{model}.jsonl", "--classes", "classes.json")
            calipers("segmentation", *source, "--state", f"{model}.state", "--quiet", cwd=tmp_path)
        called = [name for name in some if "," not in name]
        options = ("--by-label", "--resamples", 50, f"--names={called[0]},{called[-1]}")
        calipers("compare", "one.state", "two.state", *options, "--html", "page.html", cwd=tmp_path)
        page = visit(tmp_path / "page.html")
        assert page.locator(".chart svg").count() >= 2
        check(page)


def test_no_name_steers_the_terminal(calipers: Program, tmp_path: Path) -> None:
    hostile = ["\x1b[31mred", "\x1b]0;title\x07", "line\nforged: 1", "\u202egnp.exe", "bell\x07", "\r0.99"]
    for model, hits in (("one", 3), ("two", 9)):
        rows = [json.dumps({"id": name, "confusion": [[hits, 1], [1, 3]]}) for name in hostile]
        (tmp_path / f"{model}.jsonl").write_text("\n".join(rows) + "\n")
        source = ("--confusion", f"{model}.jsonl", "--classes", 2)
        calipers("segmentation", *source, "--state", f"{model}.state", "--quiet", cwd=tmp_path)
    said = calipers("compare", "one.state", "two.state", "--resamples", 50, cwd=tmp_path)
    said += calipers("show", "one.state", cwd=tmp_path)
    assert "red" in said, "the unit is named"
    forbidden = {chr(code) for code in range(32)} - {"\n"} | {"\x7f", "\u202e"}
    assert not forbidden & set(said)
    assert not any(line.startswith("forged") for line in said.splitlines())


def test_no_cell_of_a_download_is_a_formula(calipers: Program, visit: Visit, tmp_path: Path) -> None:
    names = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1"]
    lines = [json.dumps({"id": name, "confusion": [[3, 1], [1, 3]]}) for name in names]
    (tmp_path / "cms.jsonl").write_text("\n".join(lines) + "\n")
    calipers("segmentation", "--confusion", "cms.jsonl", "--classes", 2, "--html", "page.html", cwd=tmp_path)
    page = visit(tmp_path / "page.html")
    with page.expect_download() as download:
        page.locator(".units").get_by_role("button", name="CSV").click()
    text = Path(download.value.path()).read_bytes().decode()
    for name in names:
        assert f"'{name}" in text

"""The page server as a browser sees it: list, filter, pages, comparison, and nothing without the token."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

HOSTILE = "<img src=x onerror=xss(1)>.json"


@pytest.fixture(scope="module")
def folder(demo: Path, calipers: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a folder with reports, comparable states and per-unit files, and a hostile name."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(demo / "report.json", folder / "demo.json")
    shutil.copy(demo / "report.json", folder / HOSTILE)
    for model in ("baseline", "multi-head"):
        config = Path(demo.name) / "segmentation" / f"{model}.toml"
        outputs = ("--state", folder / f"{model}.state", "--per-unit", folder / f"{model}.csv")
        calipers("segmentation", config, *outputs, "--quiet", cwd=demo.parent)
    (folder / "notes.csv").write_text("name,value\nunit,1\n")
    return folder


@pytest.fixture(scope="module")
def address(program: str, folder: Path) -> Iterator[str]:
    """Serve the folder and give the address that is printed."""
    words = [program, "serve", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture
def browse(chromium: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Open an address; the test fails when a page complains, runs foreign code or asks elsewhere."""
    own = "{0.scheme}://{0.netloc}/".format(urlsplit(address))
    wrong: list[str] = []
    contexts = []

    def browse(url: str, **options: Any) -> Any:
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on(
            "request",
            lambda one: one.url.startswith((own, "data:", "blob:")) or wrong.append(f"request: {one.url}"),
        )
        page.add_init_script("window.xss = () => console.error('foreign code ran')")
        page.goto(url)
        return page

    yield browse
    for context in contexts:
        context.close()
    assert wrong == []


def test_the_list_shows_every_file_and_names_stay_text(browse: Callable[..., Any], address: str) -> None:
    page = browse(address)
    page.wait_for_selector("#rows tr")
    assert "token" not in page.url
    names = page.locator("#rows a").all_inner_texts()
    assert sorted(names) == sorted([HOSTILE, "baseline.state", "demo.json", "multi-head.state"])
    files = page.locator("#rows td:nth-child(2)").all_inner_texts()
    assert sorted(set(files) - set(names)) == ["baseline.csv", "multi-head.csv"], "they have no page alone"
    assert page.locator("#rows img").count() == 0
    page.fill("#filter", "STATE segm")
    assert page.locator("#rows tr").count() == 2
    assert page.inner_text("#state") == "2 of 6 files"
    page.fill("#filter", "")


def test_a_report_and_a_state_open_as_pages(browse: Callable[..., Any], address: str) -> None:
    page = browse(address)
    for name in ("demo.json", "baseline.state"):
        page.wait_for_selector("#rows tr")
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_selector("html[data-ready]")
        assert page.locator("h1").first.text_content() == name
        assert "segmentation" in page.inner_text("main").lower()
        page.go_back()


def test_the_list_shows_first_numbers_and_sorts(browse: Callable[..., Any], address: str) -> None:
    page = browse(address)
    page.wait_for_selector("#rows tr")
    page.fill("#filter", "state segm")
    head = page.get_by_role("button", name="Sort by miou")
    head.click()
    at = page.locator("#heads th").all_inner_texts().index("miou ↑") + 1
    numbers = [float(text) for text in page.locator(f"#rows td:nth-child({at})").all_inner_texts()]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 2
    page.get_by_role("button", name="Sort by miou").press("Enter")
    again = [float(text) for text in page.locator(f"#rows td:nth-child({at})").all_inner_texts()]
    assert again == numbers[::-1]


def test_three_files_are_compared(browse: Callable[..., Any], address: str, folder: Path) -> None:
    third = folder / "again.state"
    shutil.copy(folder / "multi-head.state", third)
    page = browse(address)
    page.wait_for_selector("text=again.state", timeout=10_000)
    for name in ("baseline.state", "multi-head.state", "again.state"):
        page.check(f"input[aria-label='Compare {name}']")
    assert page.inner_text("#compare") == "Compare the 3"
    page.click("#compare")
    page.wait_for_selector("html[data-ready]")
    assert "Ranks" in page.inner_text("main")
    third.unlink()


@pytest.mark.parametrize("files", [("state", "state"), ("csv", "csv"), ("state", "csv")])
def test_two_files_are_compared_from_the_list(
    browse: Callable[..., Any], address: str, files: tuple[str, str]
) -> None:
    page = browse(address)
    page.wait_for_selector("#rows tr")
    assert page.is_disabled("#compare")
    assert page.inner_text("#compare") == "Choose two or more to compare"
    names = [f"{model}.{ending}" for model, ending in zip(("baseline", "multi-head"), files, strict=True)]
    for name in names:
        page.check(f"input[aria-label='Compare {name}']")
    page.click("#compare")
    page.wait_for_selector("html[data-ready]")
    text = page.inner_text("main")
    assert f"{names[1]} against {names[0]}" in text
    assert "miou" in text
    assert ("per-unit-files" in text) == ("csv" in files), "means over units are said to be that"
    assert page.locator(".picture .chart svg").count() >= 2


def test_reports_stand_side_by_side(browse: Callable[..., Any], address: str) -> None:
    page = browse(address)
    page.wait_for_selector("#rows tr")
    for name in ("demo.json", "baseline.state"):
        page.check(f"input[aria-label='Compare {name}']")
    page.click("#compare")
    page.wait_for_selector("html[data-ready]")
    side = page.locator("section", has=page.get_by_role("heading", name="Side by side")).first
    heads = side.locator("table thead th").all_inner_texts()
    assert any("baseline.state" in text for text in heads)
    assert any("demo.json: segmentation" in text for text in heads)
    assert side.locator("strong").count() >= 4, "the best of a line is bold"


def test_the_numbers_of_the_list_follow_the_files_while_it_is_open(
    browse: Callable[..., Any], address: str, folder: Path
) -> None:
    changed = folder / "changed.state"
    shutil.copy(folder / "baseline.state", changed)
    page = browse(address)
    row = page.locator("#rows tr", has_text="changed.state")
    row.wait_for(timeout=10_000)
    before = row.inner_text()
    shutil.copy(folder / "multi-head.state", changed)
    page.wait_for_function(
        "before => ![...document.querySelectorAll('#rows tr')].some((row) => row.innerText === before)",
        arg=before,
        timeout=10_000,
    )
    assert "changed.state" in row.inner_text()
    changed.unlink()


def test_the_list_follows_the_folder(browse: Callable[..., Any], address: str, folder: Path) -> None:
    page = browse(address)
    page.wait_for_selector("#rows tr")
    added = folder / "later.json"
    shutil.copy(folder / "demo.json", added)
    page.wait_for_selector("text=later.json", timeout=10_000)
    added.unlink()
    page.wait_for_selector("text=later.json", state="detached", timeout=10_000)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_list_can_be_read_and_used_by_keyboard_alone(
    browse: Callable[..., Any], address: str, colours: str
) -> None:
    page = browse(address, color_scheme=colours)
    page.wait_for_selector("#rows tr")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.body).color")
    channels = [[int(part) for part in text[4:-1].split(",")] for text in (back, ink)]
    assert (channels[0] > channels[1]) == (colours == "light")
    page.focus("#filter")
    page.keyboard.type("demo.json")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.get_by_role("link", name="demo.json", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-ready]")


def test_without_the_token_nothing_is_shown(chromium: Any, address: str) -> None:
    own = address.split("?")[0]
    context = chromium.new_context()
    page = context.new_page()
    for path in ("", "list.json", "report/0000000000000000", "?token=0"):
        answer = page.goto(own + path)
        assert answer.status == 403
        assert "calipers" not in answer.headers.get("set-cookie", "")
    context.close()

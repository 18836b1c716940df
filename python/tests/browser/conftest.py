"""A browser that lets nothing pass: every message, error, question and request is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OWN = ("file:", "data:", "blob:", "about:")


def _program() -> str | None:
    """Find the program under test: the one named by `CALIPERS`, else the one built last."""
    built = [ROOT / "target" / profile / "calipers" for profile in ("release", "debug")]
    found = sorted((path for path in built if path.is_file()), key=lambda path: path.stat().st_mtime)
    return os.environ.get("CALIPERS") or (str(found[-1]) if found else None)


PROGRAM = _program()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser or the program there is nothing to drive."""
    missing = (
        "there is no chromium" if CHROMIUM is None else "calipers is not built" if PROGRAM is None else None
    )
    for item in items:
        if missing and Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(scope="session")
def program() -> str:
    """Name the program under test."""
    return str(PROGRAM)


@pytest.fixture(scope="session")
def calipers() -> Callable[..., str]:
    """Run the program and give what it prints."""

    def run(*arguments: object, cwd: Path | None = None, text: str | None = None) -> str:
        words = [str(PROGRAM), *map(str, arguments)]
        done = subprocess.run(words, cwd=cwd, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def demo(calipers: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a demo and give its folder."""
    folder = tmp_path_factory.mktemp("demo")
    calipers("demo", "--out", "demo", cwd=folder)
    return folder / "demo"


@dataclass
class Watched:
    """A page, and what it did that it must not do."""

    page: Any
    wrong: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open a file; the test fails when the page complains, asks, runs foreign code or goes out."""
    opened: list[tuple[Any, Watched]] = []

    def visit(file: Path, **options: Any) -> Any:
        options.setdefault("viewport", {"width": 1440, "height": 900})
        context = chromium.new_context(accept_downloads=True, offline=True, **options)
        page = context.new_page()
        watched = Watched(page)
        wrong = watched.wrong
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda one: one.url.startswith(OWN) or wrong.append(f"request: {one.url[:80]}"))
        page.add_init_script("window.xss = () => console.error('foreign code ran')")
        opened.append((context, watched))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield visit
    for context, watched in opened:
        context.close()
        assert watched.wrong == []

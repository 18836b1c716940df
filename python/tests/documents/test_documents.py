"""Every code block of the documents runs."""

import warnings
from pathlib import Path

import pytest
from document_blocks import Block, Runner, blocks, commands, differs, expected, is_known

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/guides/*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    for block in blocks(page.read_text()):
        place = f"{page.relative_to(ROOT)}:{block.line}"
        assert is_known(block.language), f"{place}: no rule for blocks of {block.language!r}"
        wrong = failure(runner, block)
        if wrong is not None:
            pytest.fail(f"{place}: {wrong}", pytrace=False)


def failure(runner: Runner, block: Block) -> str | None:
    """Run a block and return what is wrong with it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runner.run(block)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def test_shown_lines_are_what_is_printed() -> None:
    printed = ["a", "", "b", "c", ""]
    for shown in (["a", "", "b", "c"], ["a", "⋮"], ["  ⋮", "b", "c"], ["a", "⋮", "c"]):
        assert differs(printed, shown) is None, shown
    assert differs(printed, ["a", "b", "c"]) == "b"
    assert differs(printed, ["a", "⋮", "d"]) == "d"
    assert differs(printed, ["a"]) == "(more lines follow)"


def test_commands_are_told_from_what_they_print() -> None:
    code = '$ one \\\n      --flag\nout\n$ two "a\nb"\n$ three'
    assert list(commands(code)) == [("one \\\n      --flag", ["out"]), ('two "a\nb"', []), ("three", [])]


def test_a_block_has_the_comments_before_it() -> None:
    page = "<!-- file: a.toml -->\n```toml\nx = 1\n```\n"
    page += "<!-- prepare python\ny = 2\n-->\n\n```console\n$ ls\n```\n"
    assert list(blocks(page)) == [
        Block(2, "toml", "x = 1", {"file": "a.toml"}),
        Block(5, "python", "y = 2", {}),
        Block(9, "console", "$ ls", {}),
    ]


def test_a_block_that_is_wrong_fails(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    wrong = [
        Block(1, "python", "1 + 1  # 3", {}),
        Block(1, "console", "$ echo a\nb", {}),
        Block(1, "console", "$ false", {}),
        Block(1, "console", "$ true\nerror: it fails", {}),
        Block(1, "json", "{", {}),
        Block(1, "python", "1 / 0", {"not run": ""}),
    ]
    for block in wrong:
        with pytest.raises((AssertionError, ValueError)):
            runner.run(block)
    runner.run(Block(1, "python", "1 / 0", {"not run": "it is wrong"}))
    assert list(expected("f()  # 0.5\ng()  # words")) == [(1, 0.5)]

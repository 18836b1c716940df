"""The code blocks of a page of the documents, and what runs them.

Every block of a page is run, from top to bottom, in one empty folder and one Python namespace:

* ``console``: each line after ``$`` is run by the shell. What is shown below it is what it prints; a line
  with ``⋮`` alone stands for any number of lines. It fails if the page shows an ``error:``, and succeeds
  otherwise.
* ``python``: run as it stands. A line that ends in a comment which is a literal has that value.
* ``diff``: what is left after the change, as Python.
* ``json`` and ``toml``: parsed. ``text`` is not code.

Comments of Markdown, which no reader sees, say the rest:

* ``<!-- file: NAME -->`` writes the next block to a file.
* ``<!-- prepare`` or ``<!-- prepare python``, then code up to ``-->``: run like a block.
* ``<!-- needs: torch, lightning -->``: the next block is run where these packages are.
* ``<!-- not run: REASON -->``: the next block is not run.
"""

import ast
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    tomllib = None

_FENCE = re.compile(r"^( *)(`{3,})([a-z]*)[^`\n]*$")
_COMMENT = re.compile(r"^ *<!-- (file|needs|not run|prepare)(.*)$")
_RUN = {"bash", "console", "diff", "json", "python", "sh", "toml"}


class Block(NamedTuple):
    """A piece of code of a page."""

    line: int
    language: str
    code: str
    directives: dict[str, str]


def blocks(text: str) -> Iterator[Block]:
    """Yield the code of a page from top to bottom, with the comments that stand before it."""
    directives: dict[str, str] = {}
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        comment, fence = _COMMENT.match(line), _FENCE.match(line)
        if comment and comment[1] == "prepare":
            code = "\n".join(_until(lines, "-->", f"line {number}"))
            yield Block(number, "python" if "python" in comment[2] else "prepare", code, directives)
            directives = {}
        elif comment:
            directives[comment[1]] = comment[2].removesuffix("-->").strip(": ")
        elif fence:
            indent = len(fence[1])
            code = "\n".join(each[indent:] for each in _until(lines, fence[2], f"line {number}"))
            yield Block(number, fence[3], code, directives)
            directives = {}


def _until(lines: Iterator[tuple[int, str]], end: str, place: str) -> Iterator[str]:
    for _, line in lines:
        if line.strip() == end:
            return
        yield line
    raise AssertionError(f"{place}: nothing ends it")


class Runner:
    """Runs the blocks of one page."""

    def __init__(self, folder: Path) -> None:
        """Work in this folder."""
        scripts = sysconfig.get_path("scripts")
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "page"}
        self.environment = os.environ | {
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
            "REPOSITORY": str(Path(__file__).parents[3]),
        }
        self.left_out = 0

    def run(self, block: Block) -> None:
        """Run one block, or raise what is wrong with it."""
        wanted = [each.strip() for each in block.directives.get("needs", "").split(",") if each.strip()]
        if any(importlib.util.find_spec(each) is None for each in wanted):
            self.left_out += 1
            return
        if "file" in block.directives:
            (self.folder / block.directives["file"]).write_text(block.code + "\n")
        if "not run" in block.directives:
            assert block.directives["not run"], "a block that is not run needs a reason"
            return
        if block.language == "python":
            self._python(block.code)
        elif block.language == "diff":
            kept = [line[1:] for line in block.code.splitlines() if not line.startswith("-")]
            self._python("\n".join(kept))
        elif block.language == "console":
            for command, shown in commands(block.code):
                self._shell(command, shown)
        elif block.language in {"prepare", "sh", "bash"}:
            self._shell(block.code, [])
        elif block.language == "json":
            json.loads(block.code)
        elif block.language == "toml" and tomllib is not None:
            tomllib.loads(block.code)

    def _python(self, code: str) -> None:
        back = Path.cwd()
        os.chdir(self.folder)
        try:
            values = dict(expected(code))
            for statement in ast.parse(code).body:
                if isinstance(statement, ast.Expr) and statement.end_lineno in values:
                    found = eval(compile(ast.Expression(statement.value), "page", "eval"), self.names)
                    wanted = values[statement.end_lineno]
                    assert found == wanted, f"{ast.unparse(statement)} is {found!r}, the page says {wanted!r}"
                else:
                    exec(compile(ast.Module([statement], []), "page", "exec"), self.names)
        finally:
            os.chdir(back)

    def _shell(self, command: str, shown: list[str]) -> None:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        fails = any(line.startswith("error:") for line in shown)
        said = f"$ {command}\n{done.stdout}"
        assert (done.returncode != 0) == fails, f"exit status {done.returncode}: {said}"
        if shown:
            where = differs(done.stdout.splitlines(), shown)
            assert where is None, f"not as shown, from {where!r}: {said}"


def commands(code: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console block with the lines that are shown below it."""
    command, shown, is_open = "", list[str](), False
    for line in code.splitlines():
        if is_open:
            command += "\n" + line
        elif line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        else:
            shown.append(line)
            continue
        is_open = command.endswith("\\") or len(re.findall(r'(?<!\\)"', command)) % 2 == 1
    yield command, shown


def differs(found: list[str], shown: list[str]) -> str | None:
    """Return the first shown line that is not where it should be; blank lines at the ends do not count."""
    found = [line.rstrip() for line in found]
    at, anywhere = 0, False
    for line in (line.rstrip() for line in shown):
        if line.strip() == "⋮":
            anywhere = True
            continue
        places = range(at, len(found)) if anywhere else range(at, min(at + 1, len(found)))
        place = next((place for place in places if found[place] == line), None)
        if place is None:
            return line
        at, anywhere = place + 1, False
    rest = [line for line in found[at:] if line]
    return None if anywhere or not rest else "(more lines follow)"


def expected(code: str) -> Iterator[tuple[int, Any]]:
    """Yield the lines that end in a comment which is a literal, and its value."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            try:
                yield token.start[0], ast.literal_eval(token.string.lstrip("# "))
            except (SyntaxError, ValueError):
                continue


def is_known(language: str) -> bool:
    """Whether there is a rule for blocks of this language."""
    return language in _RUN | {"prepare", "text"}


if __name__ == "__main__":
    print(sys.modules[__name__].__doc__)

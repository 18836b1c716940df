"""The Markdown of tables as markup for a notebook: nothing in it is more than text."""

from __future__ import annotations

import html
import re


def from_markdown(text: str) -> str:
    r"""Return titles, tables and notes as markup.

    >>> from_markdown("**a \\* b**\n\n| m | x |\n| :-- | --: |\n| f | **1** |")
    '<p><b>a * b</b></p><table><tr><th>m</th><th>x</th></tr><tr><td>f</td><td><b>1</b></td></tr></table>'
    """
    found: list[str] = []
    row = 0
    for line in text.splitlines():
        row = row + 1 if line.startswith("|") else 0
        if row == 2:
            # The rule below the headings says how columns are set; a notebook does that itself.
            continue
        if row:
            tag = "th" if row == 1 else "td"
            cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
            found.append(f"<tr>{''.join(f'<{tag}>{_words(cell.strip())}</{tag}>' for cell in cells)}</tr>")
        elif line:
            found.append(f"<p>{_words(line.removeprefix('- '))}</p>")
    return re.sub(r"(?:<tr>.*?</tr>)+", r"<table>\g<0></table>", "".join(found), flags=re.DOTALL)


def _words(text: str) -> str:
    """Return the words as text, those between two pairs of stars in bold."""
    inner = re.fullmatch(r"\*\*(.*)\*\*", text)
    plain = html.unescape(re.sub(r"\\([\\|`*_\[\]#~!])", r"\1", inner[1] if inner else text))
    shown = html.escape(plain)
    return f"<b>{shown}</b>" if inner else shown

"""Paths as arguments."""

from __future__ import annotations

import os
from typing import TypeAlias

from calipers._errors import InputTypeError

Path: TypeAlias = "str | os.PathLike[str]"
"""Where a file or folder is."""


def path_text(given: Path, name: str) -> str:
    """Return the text of a path; `name` is the argument."""
    path = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(path, str):
        raise InputTypeError(
            f"{name} is of a type that cannot be meant\n    found: {type(given).__name__}\n"
            "  allowed: a path: str or os.PathLike"
        )
    return path

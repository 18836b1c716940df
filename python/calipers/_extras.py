"""What other libraries add, each an extra of the package that is named where the library is missing."""

from __future__ import annotations

import importlib
from typing import Any


def missing(what: str, extra: str, error: ImportError) -> ImportError:
    """Return the error for a library without which `what` does not work; `extra` installs it."""
    return ImportError(
        f"{what} needs a library that cannot be imported\n    found: {error}\n"
        f"     help: pip install 'calipers[{extra}]'"
    )


def library(name: str, what: str, extra: str | None = None) -> Any:
    """Import a library that `what` needs; the extra is called as the library unless it is said."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing(what, extra or name, error) from error

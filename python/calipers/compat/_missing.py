"""What a drop-in says when it is asked for a name that it does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def named(module: str, names: Sequence[str]) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that lists what is there."""

    def missing(name: str) -> Any:
        raise AttributeError(f"module '{module}' has no '{name}'; it has {', '.join(sorted(names))}")

    return missing

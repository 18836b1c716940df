"""One line for a named tuple, however much it holds."""

from __future__ import annotations

from typing import Any

_MOST = 100


def short(named: Any) -> str:
    """Return its fields as they are where they fit in a line, else shortened."""
    for value in (repr, _shortened):
        fields = ", ".join(f"{name}={value(of)}" for name, of in zip(named._fields, named, strict=True))
        whole = f"{type(named).__name__}({fields})"
        if len(whole) <= _MOST and "\n" not in whole:
            return whole
    return f"{whole[: _MOST - 4]}...)"


def _shortened(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"<{str(value.dtype).removeprefix('torch.')} {list(value.shape)}>"
    if isinstance(value, dict | list | tuple):
        return f"<{len(value)}>"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = repr(value)
    return text if len(text) <= 24 else f"{text[:20]}...{text[-1]}"

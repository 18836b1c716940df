"""Arguments checked where they are given, so that an error names them."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from calipers._errors import CalipersError, InputError, InputTypeError, UnknownArgumentError, UsageError


@contextmanager
def called(**names: str) -> Iterator[None]:
    """Let errors within call arrays what the caller calls them: `called(clean="features")`."""
    try:
        yield
    except CalipersError as error:
        said = str(error)
        for inner, name in names.items():
            said = re.sub(rf"(?<=[ '`]){inner}(?=[ '`\n,]|$)", name, said)
        raise type(error)(said) from None


def wrong_type(name: str, value: Any, allowed: str) -> InputTypeError:
    """Return the error for a value of a type that cannot be meant."""
    found = type(value).__name__
    return InputTypeError(
        f"{name} is of a type that cannot be meant\n    found: {found}\n  allowed: {allowed}"
    )


def _refused(name: str, value: Any, allowed: str) -> UsageError:
    return UsageError(f"{name} does not take this value\n    found: {value}\n  allowed: {allowed}")


def word(name: str, value: Any, words: Collection[str]) -> str:
    """Return a word that is one of those allowed."""
    allowed = ", ".join(words)
    if not isinstance(value, str):
        raise wrong_type(name, value, allowed)
    if value not in words:
        near = difflib.get_close_matches(value, words, 1)
        advice = f"\n     help: did you mean {near[0]}?" if near else ""
        raise UsageError(str(_refused(name, repr(value), allowed)) + advice)
    return value


def words(name: str, value: Any, known: Collection[str]) -> list[str]:
    """Return words that are among those allowed; one word is a list of one."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, Iterable):
        raise wrong_type(name, value, f"a list of {', '.join(known)}")
    return [word(name, one, known) for one in given]


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """Return a whole number within its range."""
    allowed = "a whole number" + _range(low, high)
    if isinstance(value, bool):
        raise wrong_type(name, value, allowed)
    try:
        number = operator.index(value)
    except TypeError:
        raise wrong_type(name, value, allowed) from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise _refused(name, number, allowed)
    if not -(2**63) <= number < 2**64:
        raise _refused(name, number, "a whole number of 64 bits")
    return number


def number(name: str, value: Any, low: float | None = None, high: float | None = None) -> float:
    """Return a finite number within its range."""
    allowed = "a number" + _range(low, high)
    if isinstance(value, bool | str | bytes):
        raise wrong_type(name, value, allowed)
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise wrong_type(name, value, allowed) from None
    outside = (low is not None and found < low) or (high is not None and found > high)
    if outside or found != found or found in (float("inf"), float("-inf")):
        raise _refused(name, found, allowed)
    return found


def numbers(name: str, value: Any) -> list[float]:
    """Return finite numbers; one number is a list of one."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return [number(name, value)]
    return [number(name, one) for one in value]


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f", {low} or more"
    return f", {low} to {high}" if low is not None else f", up to {high}"


def flag(name: str, value: Any) -> bool:
    """Return a switch."""
    if not isinstance(value, bool):
        raise wrong_type(name, value, "True or False")
    return value


def text(name: str, value: Any) -> str:
    """Return text."""
    if not isinstance(value, str):
        raise wrong_type(name, value, "text")
    return value


def texts(name: str, value: Any) -> list[str]:
    """Return texts; one text is a list of one."""
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise wrong_type(name, value, "texts in a list")
    return [value] if isinstance(value, str) else [text(name, one) for one in value]


def table(name: str, value: Any, keys: Collection[str]) -> dict[str, Any]:
    """Return a mapping whose keys are known."""
    if not isinstance(value, Mapping):
        raise wrong_type(name, value, f"a mapping with {', '.join(keys)}")
    for key in value:
        if key not in keys:
            near = difflib.get_close_matches(str(key), keys, 1)
            advice = f"     help: did you mean {near[0]}?" if near else f"  allowed: {', '.join(keys)}"
            raise UnknownArgumentError(f"no such key\n    found: {name}[{key!r}]\n{advice}")
    return {key: inner for key, inner in value.items() if inner is not None}


def arguments(given: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return keyword arguments whose names are known, but for those that are not given."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            advice = f"     help: did you mean {near[0]}?" if near else f"  allowed: {', '.join(known)}"
            raise UnknownArgumentError(f"no such argument\n    found: {name}\n{advice}")
    return {name: value for name, value in given.items() if value is not None}


def names_of(value: Any) -> list[str]:
    """Return the names of a batch."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise wrong_type("names", value, "a name for each unit")
    return [text("names", name) for name in value]


def parts(name: str, value: Any, count: int) -> list[Any]:
    """Return the share of each of so many units: of a list, of an array's first axis, or of a mapping."""
    if value is None:
        return [None] * count
    if isinstance(value, Mapping):
        by_key = {key: parts(f"{name}[{key!r}]", inner, count) for key, inner in value.items()}
        return [{key: inner[unit] for key, inner in by_key.items()} for unit in range(count)]
    if not isinstance(value, Sequence) and not hasattr(value, "__len__"):
        raise wrong_type(name, value, "an array with an axis of units, or a list of arrays")
    if len(value) != count:
        raise InputError(
            f"there is one of each name\n       at: {name}\n    found: names has {count}, {name} {len(value)}"
        )
    return [value[unit] for unit in range(count)]

"""What can go wrong. The texts are those of the command line, in the words of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calipers._evaluator import EvaluatorBase


class CalipersError(Exception):
    """Any error of this package."""


class UsageError(CalipersError, ValueError):
    """A call asks for something that does not exist or contradicts itself."""

    evaluator: EvaluatorBase | list[Any] | None = None
    """What was measured, where `strict` refuses nothing but the warnings."""


class UnknownArgumentError(UsageError, TypeError):
    """A call has an argument of a name that is not known."""


class InputError(CalipersError, ValueError):
    """The values are readable but not allowed."""


class InputTypeError(CalipersError, TypeError):
    """An object is of a type that cannot be meant."""


class FormatError(CalipersError, ValueError):
    """Bytes are not what their format promises."""


class FileError(CalipersError, ValueError, OSError):
    """A file cannot be opened, read or written."""


class DuplicateError(CalipersError, ValueError):
    """A unit name occurs twice within one run."""


class ConflictError(CalipersError, ValueError):
    """Two states hold different rows under one unit name."""


class ProtocolMismatchError(CalipersError, ValueError):
    """Two states were made under different protocols."""


class InternalError(CalipersError, RuntimeError):
    """The package itself is at fault: please report it."""


class UnknownMetricError(CalipersError, KeyError):
    """A report has no metric of that id."""

    def __str__(self) -> str:
        return str(self.args[0])

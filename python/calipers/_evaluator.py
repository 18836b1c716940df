"""What the evaluators of all families share."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, ClassVar

from calipers import _calipers
from calipers._errors import InputTypeError, UsageError
from calipers._report import Report, Value

if TYPE_CHECKING:
    from typing_extensions import Self


class EvaluatorBase:
    """Measured units and how they were measured.

    Units are kept as small rows under their names. `merge` is associative, commutative and idempotent:
    shards may arrive in any order and more than once. Any number of threads may update one evaluator.
    """

    family: ClassVar[str]
    _beside: ClassVar[tuple[str, ...]] = ()
    """Attributes that are no part of the state but travel with a copy."""
    _state: _calipers.State

    def merge(self, other: Self) -> None:
        """Add the units of another evaluator.

        Equal rows under one name coincide; unequal ones raise `ConflictError`, other settings
        `ProtocolMismatchError`. After an error nothing has changed.
        """
        if not isinstance(other, EvaluatorBase):
            raise InputTypeError(f"an evaluator merges with another one\n    found: {type(other).__name__}")
        self._state.merge(other._state, "the other evaluator")

    def report(self, *, bootstrap: int = 0, confidence: float = 0.95, seed: int = 0) -> Report:
        """Read every metric; with `bootstrap` resamples, with percentile intervals."""
        return Report(self._state.report(bootstrap, confidence, seed))

    def per_unit(self) -> dict[str, list[Value]]:
        """Return the per-unit table by column; `None` is undefined. Data frames take it as it is."""
        columns, lines = self._state.per_unit()
        rows = [json.loads(line) for line in lines.splitlines()]
        return {column: [row.get(column) for row in rows] for column in columns}

    def to_bytes(self) -> bytes:
        """Return the state as the command line's `--state` writes it."""
        return self._state.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the evaluator whose state these bytes are."""
        made = cls.__new__(cls)
        made._adopt(_calipers.State.from_bytes(bytes(data), "bytes"))
        return made

    def _adopt(self, state: _calipers.State) -> None:
        if state.family() != self.family:
            raise UsageError(
                f"the state is of another family\n    found: {state.family()}\n  allowed: {self.family}"
            )
        self._state = state

    def __len__(self) -> int:
        return self._state.units()

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        units = len(self)
        return f"<calipers.{self.family}.Evaluator, {units} unit{'' if units == 1 else 's'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),), {name: getattr(self, name) for name in self._beside}

    def __copy__(self) -> Self:
        made = type(self).from_bytes(self.to_bytes())
        made.__dict__.update(copy.deepcopy({name: getattr(self, name) for name in self._beside}))
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

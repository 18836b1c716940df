"""What the evaluators of all families share."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

from calipers import _calipers
from calipers._errors import InputTypeError, UsageError
from calipers._inputs.arguments import flag
from calipers._inputs.paths import Path, path_text
from calipers._report import Report, Value, frames

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
    _remembers: ClassVar[bool] = True
    """Whether intervals are made when a report is read, not while it is measured."""
    _remembered: dict[str, Any] = {}  # noqa: RUF012
    """What `evaluate` was asked for and a report uses; replaced, never changed."""
    _state: _calipers.State

    def merge(self, other: Self | bytes) -> None:
        """Add the units of another evaluator, or of its bytes.

        Equal rows under one name coincide; unequal ones raise `ConflictError`, other settings
        `ProtocolMismatchError`. After an error nothing has changed.
        """
        self._take_in(self._evaluator(other), "the other evaluator")

    def _take_in(self, other: Self, name: str) -> None:
        """Add the units of another evaluator, which `name` is in messages."""
        self._state.merge(other._state, name)

    def _evaluator(self, other: Self | bytes) -> Self:
        if isinstance(other, bytes | bytearray | memoryview):
            return type(self).from_bytes(other)
        if not isinstance(other, EvaluatorBase):
            raise InputTypeError(
                f"other is no evaluator\n    found: {type(other).__name__}\n"
                "  allowed: an evaluator, or the bytes of one"
            )
        return other

    def report(
        self,
        *,
        bootstrap: int | None = None,
        confidence: float | None = None,
        seed: int | None = None,
        interval: str | None = None,
        cluster_by: str | None = None,
        partial: bool = False,
    ) -> Report:
        """Read every metric; with `bootstrap` resamples, with intervals.

        `interval` is `expanded`, `percentile` or `bca`. `cluster_by` is `none`, `folder`, `regex:PATTERN` or
        `FILE.csv:COLUMN`. What is not given is what `evaluate` was given: else no resamples, 0.95, 0,
        `expanded` and no clusters. Where shards are missing, only `partial=True` gives a report: of the
        units that are there, with a warning that names the shards.
        """
        given = {
            "bootstrap": bootstrap,
            "confidence": confidence,
            "seed": seed,
            "interval": interval,
            "cluster_by": cluster_by,
            "partial": flag("partial", partial) or None,
        }
        return self._reported({key: value for key, value in given.items() if value is not None})

    def _reported(self, given: dict[str, Any]) -> Report:
        options = {**self._remembered, **given}
        # What is measured later is not in this report, nor in its table of units.
        state = self._state.shared()
        return Report(state.report(options), state, options)

    def per_unit(self) -> dict[str, list[Value]]:
        """Return the per-unit table by column; `None` is undefined. Data frames take it as it is."""
        return frames.per_unit(*self._state.per_unit())

    def to_bytes(self) -> bytes:
        """Return the state as the command line's `--state` writes it."""
        return self._state.to_bytes()

    def save(self, path: Path) -> None:
        """Write the state beside the target, and rename it: the file is whole or not there."""
        self._state.save(path_text(path, "path"))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """Return the evaluator whose state these bytes are."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InputTypeError(
                f"data is of a type that cannot be meant\n    found: {type(data).__name__}\n  allowed: bytes"
            )
        return cls._of(_calipers.State.from_bytes(bytes(data), "bytes"))

    @classmethod
    def _of(cls, state: _calipers.State) -> Self:
        made = cls.__new__(cls)
        made._adopt(state)
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

    def _beside_the_state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("_remembered", *self._beside)}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),), self._beside_the_state()

    def __copy__(self) -> Self:
        return self._copied("bytes")

    def _copied(self, name: str) -> Self:
        """Return a copy, which `name` is in messages."""
        made = self._of(_calipers.State.from_bytes(self.to_bytes(), name))
        made.__dict__.update(copy.deepcopy(self._beside_the_state()))
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

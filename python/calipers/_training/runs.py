"""Runs as they were read from logs: their points and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from calipers._errors import InputError
from calipers._report import frames

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def warned(found: list[tuple[str, str, list[str]]]) -> list[dict[str, Any]]:
    """Return warnings in the form of a report's."""
    return [{"code": code, "message": message, "units": units} for code, message, units in found]


@dataclass(frozen=True, eq=False)
class Run:
    """One run: where it belongs, where it was read, and its points in order of `x`, one for each x.

    `values` are those that are measured: divided by the scale, and of several at one x the one that counts.
    `config` holds what its log says of it, as text.
    """

    unit: str
    group: str
    fold: str
    name: str
    source: str
    format: str
    x_name: str
    x: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    config: dict[str, str]

    def __repr__(self) -> str:
        unit = self.unit if len(self.unit) <= 40 else self.unit[:39] + "…"
        return f"Run({unit!r}, {len(self.values)} points over {self.x_name[:20]!r}, {self.format})"


class Runs(Sequence[Run]):
    """Runs in the order of their units.

    `runs["cfg/0"]` is the run of that unit.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        numbers: Sequence[npt.NDArray[np.int64]],
        warnings: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Take runs, the numbers of their points, and what looks wrong about them."""
        self._runs = list(runs)
        self._numbers = list(numbers)
        self.warnings: list[dict[str, Any]] = list(warnings)
        """What looks wrong: `code`, `message` and the `units` concerned."""

    @overload
    def __getitem__(self, which: int | str) -> Run: ...
    @overload
    def __getitem__(self, which: slice) -> Runs: ...
    def __getitem__(self, which: int | str | slice) -> Run | Runs:
        if isinstance(which, slice):
            return Runs(self._runs[which], self._numbers[which], self.warnings)
        if not isinstance(which, str):
            return self._runs[which]
        for run in self._runs:
            if run.unit == which:
                return run
        units = ", ".join(run.unit for run in self._runs[:20])
        more = "" if len(self._runs) <= 20 else f" and {len(self._runs) - 20} more"
        raise InputError(f"there is no run of that unit\n    found: {which}\n  allowed: {units}{more}")

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __repr__(self) -> str:
        points = sum(len(run.values) for run in self._runs)
        groups = len({run.group for run in self._runs})
        return f"Runs({len(self)} runs in {groups} groups, {points} points)"

    def _columns(self) -> dict[str, list[Any]]:
        lengths = [len(run.values) for run in self._runs]
        columns: dict[str, list[Any]] = {
            key: [
                text
                for run, length in zip(self._runs, lengths, strict=True)
                for text in [getattr(run, key)] * length
            ]
            for key in ("unit", "group", "fold")
        }
        columns["number"] = [number for of_run in self._numbers for number in of_run.tolist()]
        columns["x"] = [x for run in self._runs for x in run.x.tolist()]
        columns["value"] = [value for run in self._runs for value in run.values.tolist()]
        return columns

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for every point: `unit`, `group`, `fold`, `number`, `x`, `value`."""
        made: pd.DataFrame = frames.frame(self._columns(), "pandas")
        return made

    def to_polars(self) -> pl.DataFrame:
        """Return a row for every point: `unit`, `group`, `fold`, `number`, `x`, `value`."""
        made: pl.DataFrame = frames.frame(self._columns(), "polars")
        return made

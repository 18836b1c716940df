"""The curve of one run while it grows, and what the callbacks of all libraries share."""

from __future__ import annotations

import difflib
import inspect
import math
import os
import warnings
from typing import Any

from calipers import training
from calipers._inputs.arguments import arguments, flag, text
from calipers._inputs.paths import path_text

LOGGED = ("velocity", "stability", "divergence")


class Curve:
    """The values of one metric so far; `now` is what they measure."""

    metric: str
    values: list[float]
    """One value for each validation."""
    now: dict[str, Any]
    """`calipers.training.measure` of the run so far; empty before the first value."""

    def _begin(
        self,
        metric: str,
        group: str,
        fold: str,
        threshold: float,
        state: str | os.PathLike[str] | None,
        log: bool,
        prefix: str,
        options: dict[str, Any],
    ) -> None:
        known = set(inspect.signature(training.Evaluator).parameters) - {"metric", "threshold"}
        options = arguments(options, sorted(known))
        self.metric, self.group, self.fold = text("metric", metric), text("group", group), text("fold", fold)
        self._options = {**options, "threshold": threshold}
        self._log, self._prefix = flag("log", log), text("prefix", prefix)
        self._state = None if state is None else path_text(state, "state")
        # What cannot be measured is told now and not after the first epoch.
        training.Evaluator(metric, **self._options)
        self._restore([], [])

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<calipers.callbacks.{kind}, {self.metric}, {len(self.values)} values>"[:100]

    def evaluator(self) -> training.Evaluator:
        """Return an evaluator with the run so far as its one unit, `<group>/<fold>`."""
        acc = training.Evaluator(self.metric, **self._options)
        if self.values:
            acc.update(f"{self.group}/{self.fold}", self.values, self._x(), group=self.group, fold=self.fold)
        return acc

    def _x(self) -> list[float] | None:
        # A run may be validated several times per epoch: then epochs say which value counts only if asked.
        return self._epochs if self._options.get("index") == "epoch" else None

    def _restore(self, values: list[float], epochs: list[float]) -> None:
        self.values, self._epochs = values, epochs
        self.now = self._measured()

    def _measured(self) -> dict[str, Any]:
        if not self.values:
            return {}
        left_out = ("unit", "group", "fold")
        cells = self.evaluator().per_unit()
        return {column: cell[0] for column, cell in cells.items() if column not in left_out}

    def _take(self, value: Any, epoch: float) -> dict[str, float]:
        """Append a value; return the numbers to be logged, NaN where one is undefined."""
        self.values.append(float(value))
        self._epochs.append(float(epoch))
        self.now = self._measured()
        if not self._log:
            return {}
        numbers = {name: self.now.get(name) for name in LOGGED}
        return {
            f"{self._prefix}{name}": math.nan if number is None else float(number)
            for name, number in numbers.items()
        }

    def _finish(self, seen: set[str], writes: bool = True) -> None:
        """Write the state; warn where the metric never came."""
        if not self.values:
            near = difflib.get_close_matches(self.metric, sorted(seen), 1)
            warnings.warn(
                f"'{self.metric}' was never logged, and nothing was measured; "
                + (f"did you mean '{near[0]}'?" if near else f"logged were: {', '.join(sorted(seen))}"),
                UserWarning,
                stacklevel=3,
            )
        if writes and self._state is not None:
            self.evaluator().save(self._state)


def defined(numbers: dict[str, float]) -> dict[str, float]:
    """Leave out what is undefined."""
    return {name: number for name, number in numbers.items() if not math.isnan(number)}

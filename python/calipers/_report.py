"""A report: metric values by id, with protocol, reasons, warnings and inputs."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from calipers import _calipers
from calipers._errors import UnknownMetricError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from calipers._evaluator import EvaluatorBase
    from calipers._metric_ids import MetricId

Value: TypeAlias = Any
"""A number, a count, a list, a dict by class or head, text, or `None` where nothing is defined."""


def _pairs(bounds: Any) -> Any:
    if isinstance(bounds, dict):
        return {label: _pairs(below) for label, below in bounds.items()}
    low, high = bounds
    return (low, high)


class Report(Mapping[str, Value]):
    """Metric values by id; the family's prefix may be left out.

    >>> import calipers as cp
    >>> acc = cp.independent_set.Evaluator()
    >>> acc.update("edge", edge_index=[[0, 1], [1, 0]], logits=[1.0, -1.0], labels=[1, 0])
    >>> report = acc.report()
    >>> report["independent_set.accuracy"], report["accuracy"]
    (1.0, 1.0)
    >>> report["steps_to_solve"] is None, report.undefined["independent_set.steps_to_solve"]
    (True, 'no steps given')
    """

    def __init__(self, text: str, evaluator: EvaluatorBase | None = None) -> None:
        """Take the JSON of one report, as `to_json` and the command line write it."""
        self._text = text
        self._evaluator = evaluator

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read a report that was written as JSON."""
        return cls(_calipers.report_check(text))

    @cached_property
    def _parsed(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self._text)
        return parsed

    @property
    def version(self) -> str:
        """The version of Calipers that made it."""
        return str(self._parsed["calipers"])

    @property
    def protocol(self) -> dict[str, Any]:
        """The family's name and every parameter, defaults included."""
        return dict(self._parsed["protocol"])

    @property
    def units(self) -> int:
        """How many units were measured."""
        return int(self._parsed["units"])

    @property
    def undefined(self) -> dict[str, str]:
        """Why a value is `None`, by its id and the path below it."""
        return dict(self._parsed["undefined"])

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What looks wrong: `code`, `message` and the `units` concerned."""
        return list(self._parsed["warnings"])

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The files that were read."""
        return list(self._parsed["inputs"])

    @property
    def intervals(self) -> dict[str, Any]:
        """Intervals by id, in the shape of the values: a pair, or pairs by label. Empty without any."""
        return {id: _pairs(bounds) for id, bounds in self._parsed.get("intervals", {}).items()}

    @property
    def no_interval(self) -> dict[str, str]:
        """Why numbers have no interval, by path. Empty when none were asked for."""
        return dict(self._parsed.get("no_interval", {}))

    @property
    def bootstrap(self) -> dict[str, Any] | None:
        """What was drawn and how intervals were made; `None` when none were asked for."""
        return self._parsed.get("bootstrap")

    def __getitem__(self, id: MetricId | str) -> Value:
        metrics = self._parsed["metrics"]
        for name in (id, f"{self._parsed['protocol']['name']}.{id}"):
            if name in metrics:
                return metrics[name]
        raise UnknownMetricError(f"the report has no metric of that id\n    found: {id}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._parsed["metrics"])

    def __len__(self) -> int:
        return len(self._parsed["metrics"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def to_json(self) -> str:
        """Return the bytes that the command line's `--json` writes."""
        return self._text

    def to_csv(self) -> str:
        """Return one row per number: `id,value,reason`."""
        return _calipers.report_csv(self._text)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return _calipers.report_markdown(self._text)

    def to_latex(self) -> str:
        """Return the table as LaTeX."""
        return _calipers.report_latex(self._text)

    def _columns(self) -> dict[str, list[Any]]:
        ids: list[str] = []
        values: list[float | None] = []
        reasons: list[str | None] = []

        def visit(path: str, value: Value) -> None:
            if isinstance(value, dict):
                for key, inner in value.items():
                    visit(f"{path}.{key}", inner)
            elif isinstance(value, list):
                for position, inner in enumerate(value):
                    visit(f"{path}.{position}", inner)
            else:
                ids.append(path)
                values.append(None if value is None else float(value))
                reasons.append(self._parsed["undefined"].get(path))

        for id, value in self.items():
            visit(id, value)
        return {"id": ids, "value": values, "reason": reasons}

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for every number: `id`, `value`, `reason`."""
        import pandas as pd

        columns = self._columns()
        columns["value"] = pd.array(columns["value"], dtype="Float64")
        return pd.DataFrame(columns)

    def to_polars(self) -> pl.DataFrame:
        """Return a data frame with a row for every number: `id`, `value`, `reason`."""
        import polars as pl

        return pl.DataFrame(
            self._columns(), schema={"id": pl.String, "value": pl.Float64, "reason": pl.String}
        )

    def __repr__(self) -> str:
        return _calipers.report_table(self._text, shutil.get_terminal_size((100, 24)).columns).rstrip("\n")

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td>{html.escape(id)}</td><td>{'' if value is None else repr(value)}</td>"
            f"<td>{html.escape(reason or '')}</td></tr>"
            for id, value, reason in zip(*self._columns().values(), strict=True)
        )
        title = html.escape(f"{self.protocol['name']}: {self.units} units, {len(self.warnings)} warnings")
        heading = "<tr><th>id</th><th>value</th><th>not defined because</th></tr>"
        return f"<table><caption>{title}</caption>{heading}{cells}</table>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, (self._text,)

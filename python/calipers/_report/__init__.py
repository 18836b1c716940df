"""A report: metric values by id, with protocol, reasons, warnings and inputs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy.typing as npt

from calipers import _calipers
from calipers._errors import UsageError
from calipers._inputs.arguments import flag, texts
from calipers._inputs.arguments import text as text_of
from calipers._inputs.paths import Path, path_text
from calipers._report import frames, plot

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes

    from calipers._report.metric_ids import MetricId

Value: TypeAlias = Any
"""A number, a count, a list, a dict by class or head, text, or `None` where nothing is defined."""


Frame: TypeAlias = Literal["pandas", "polars", "dict"]
"""What a table is returned as."""


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

    def __init__(
        self, text: str, state: _calipers.State | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        """Take the JSON of one report, as `to_json` and the command line write it."""
        self._text = text
        self._state = state
        self._options = dict(options or {})

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read a report that was written as JSON."""
        reports = _calipers.report_check(text_of("text", text))
        if len(reports) != 1:
            raise UsageError(f"text holds several reports\n    found: {len(reports)}\n  allowed: one")
        return cls(reports[0])

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
    def left_out(self) -> list[dict[str, str]]:
        """The units that `keep_going=True` left out, each with its `reason`; they are in no number."""
        return list(self._parsed.get("left_out", []))

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
        text_of("id", id)
        for name in (id, f"{self._parsed['protocol']['name']}.{id}"):
            if name in metrics:
                return metrics[name]
        raise _calipers.unknown_metric(id, [self._short(known) for known in metrics])

    def __iter__(self) -> Iterator[str]:
        return iter(self._parsed["metrics"])

    def __len__(self) -> int:
        return len(self._parsed["metrics"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    @property
    def headline(self) -> dict[str, Value]:
        """The family's first numbers, at most 12, by their ids without the family."""
        metrics = self._parsed["metrics"]
        ids = _calipers.headline_ids(json.dumps(self._parsed["protocol"]))
        return {self._short(id): metrics[id] for id in ids if id in metrics}

    def _short(self, id: str) -> str:
        return id.removeprefix(f"{self._parsed['protocol']['name']}.")

    def array(self, id: MetricId | str) -> npt.NDArray[Any]:
        """Return a metric as an array of its shape; what is undefined is NaN.

        The confusion matrix is [C, C+1]: its last column counts pixels without a prediction. A metric by
        class gives one number per class, in their order.

        >>> import calipers as cp
        >>> acc = cp.segmentation.Evaluator(2)
        >>> acc.update("one", truth=[[0, 1]], pred=[[0, 0]])
        >>> acc.report().array("confusion")
        array([[1, 0, 0],
               [1, 0, 0]])
        """
        return frames.array(self[id], matrix=self._short(id) == "confusion")

    @overload
    def per_class(self, *, frame: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def per_class(self, *, frame: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def per_class(self, *, frame: Literal["dict"]) -> dict[str, list[Any]]: ...
    def per_class(self, *, frame: Frame = "pandas") -> pd.DataFrame | pl.DataFrame | dict[str, list[Any]]:
        """Return a row for every class, group, type or condition, and a column for every id by them.

        What is undefined is a missing value.

        >>> import calipers as cp
        >>> acc = cp.segmentation.Evaluator(["road", "sky"])
        >>> acc.update("one", truth=[[0, 1]], pred=[[0, 0]])
        >>> table = acc.report().per_class(frame="dict")
        >>> table["class"], table["iou"]
        (['road', 'sky'], [0.5, 0.0])
        """
        family = str(self._parsed["protocol"]["name"])
        columns = frames.per_class(family, {self._short(id): value for id, value in self.items()})
        return frames.frame(columns, frame)

    @overload
    def per_unit(self, *, frame: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def per_unit(self, *, frame: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def per_unit(self, *, frame: Literal["dict"]) -> dict[str, list[Any]]: ...
    def per_unit(self, *, frame: Frame = "pandas") -> pd.DataFrame | pl.DataFrame | dict[str, list[Any]]:
        """Return the table with a row for every unit; a report that was read from JSON has none.

        >>> import calipers as cp
        >>> acc = cp.training.Evaluator()
        >>> acc.update("cfg/0", [0.5, 0.95])
        >>> acc.report().per_unit(frame="dict")["unit"]
        ['cfg/0']
        """
        if self._state is None:
            raise UsageError(
                "the report was read from JSON, which has no units\n"
                "     help: read the report of an evaluator, or load the state"
            )
        columns, lines = self._state.per_unit()
        return frames.frame(frames.per_unit(columns, lines), frame)

    def _form(
        self,
        form: str,
        path: Path | None,
        select: Sequence[str] | None,
        everything: bool = False,
        plus_minus: bool = False,
    ) -> Any:
        target = None if path is None else path_text(path, "path")
        everything, plus_minus = flag("all", everything), flag("plus_minus", plus_minus)
        return _calipers.report_form(self._text, form, _ids(select), everything, plus_minus, target)

    @overload
    def to_json(self, path: None = None, *, select: Sequence[str] | None = None) -> str: ...
    @overload
    def to_json(self, path: Path, *, select: Sequence[str] | None = None) -> None: ...
    def to_json(self, path: Path | None = None, *, select: Sequence[str] | None = None) -> str | None:
        """Return the bytes that the command line's `--json` writes, or write them to a file.

        `select` are ids without the family: these metrics alone, in this order.
        """
        if path is None and select is None:
            return self._text
        made: str | None = self._form("json", path, select)
        return made

    @overload
    def to_csv(self, path: None = None, *, select: Sequence[str] | None = None) -> str: ...
    @overload
    def to_csv(self, path: Path, *, select: Sequence[str] | None = None) -> None: ...
    def to_csv(self, path: Path | None = None, *, select: Sequence[str] | None = None) -> str | None:
        """Return one row per number, `id,value,reason`, or write them to a file."""
        made: str | None = self._form("csv", path, select)
        return made

    @overload
    def to_markdown(
        self,
        path: None = None,
        *,
        select: Sequence[str] | None = None,
        all: bool = False,
        plus_minus: bool = False,
    ) -> str: ...
    @overload
    def to_markdown(
        self,
        path: Path,
        *,
        select: Sequence[str] | None = None,
        all: bool = False,
        plus_minus: bool = False,
    ) -> None: ...
    def to_markdown(
        self,
        path: Path | None = None,
        *,
        select: Sequence[str] | None = None,
        all: bool = False,
        plus_minus: bool = False,
    ) -> str | None:
        """Return the first numbers and one table of classes as Markdown, or write them to a file.

        `select` are ids without the family: these alone, in this order. `all` gives every number, and
        `plus_minus` writes intervals as ±, the distance of their farther end.

        >>> import calipers as cp
        >>> acc = cp.segmentation.Evaluator(["road", "sky"])
        >>> acc.update("one", truth=[[0, 1]], pred=[[0, 0]])
        >>> lines = acc.report().to_markdown(select=["miou"]).splitlines()
        >>> print(next(line for line in lines if "miou" in line))
        | `miou` ↑ | 0.2500 |
        """
        made: str | None = self._form("markdown", path, select, all, plus_minus)
        return made

    @overload
    def to_latex(
        self,
        path: None = None,
        *,
        select: Sequence[str] | None = None,
        all: bool = False,
        plus_minus: bool = False,
    ) -> str: ...
    @overload
    def to_latex(
        self,
        path: Path,
        *,
        select: Sequence[str] | None = None,
        all: bool = False,
        plus_minus: bool = False,
    ) -> None: ...
    def to_latex(
        self,
        path: Path | None = None,
        *,
        select: Sequence[str] | None = None,
        all: bool = False,
        plus_minus: bool = False,
    ) -> str | None:
        """Return the first numbers and one table of classes as booktabs tables, or write them to a file.

        `select` are ids without the family: these alone, in this order. `all` gives every number, and
        `plus_minus` writes intervals as ±, the distance of their farther end.
        """
        made: str | None = self._form("latex", path, select, all, plus_minus)
        return made

    @overload
    def to_html(self, path: None = None, *, select: Sequence[str] | None = None) -> str: ...
    @overload
    def to_html(self, path: Path, *, select: Sequence[str] | None = None) -> None: ...
    def to_html(self, path: Path | None = None, *, select: Sequence[str] | None = None) -> str | None:
        """Return the report as one page with pictures, or write it to a file."""
        target = None if path is None else path_text(path, "path")
        return _calipers.report_page(self._text, self._state, self._options, _ids(select), target)

    @property
    def figures(self) -> list[str]:
        """The names of the pictures that this report has, as `calipers plot` lists them.

        >>> import calipers as cp
        >>> acc = cp.segmentation.Evaluator(["road", "sky"])
        >>> acc.update("one", truth=[[0, 1]], pred=[[0, 0]])
        >>> acc.report().figures
        ['confusion', 'confusion-by-column', 'confusion-counts', 'iou']
        """
        listed = _calipers.report_figures(self._text, self._state)
        return [name for name, _, missing in listed if missing is None]

    def figure(
        self,
        name: str,
        format: Literal["svg", "png", "pdf"] = "svg",
        *,
        width: str | None = None,
        style: Literal["paper", "slides", "dark"] = "paper",
    ) -> bytes:
        """Return one picture as a file: the bytes that `calipers plot` writes.

        `width` has its unit, such as `"3.3in"` or `"8.4cm"`; without it the picture is as wide as a column
        of a paper, or as a page where it needs one.

        >>> import calipers as cp
        >>> acc = cp.segmentation.Evaluator(["road", "sky"])
        >>> acc.update("one", truth=[[0, 1]], pred=[[0, 0]])
        >>> acc.report().figure("iou", "pdf", width="84mm")[:5]
        b'%PDF-'
        """
        wide = None if width is None else text_of("width", width)
        said = text_of("name", name), text_of("format", format), wide, text_of("style", style)
        return _calipers.report_figure(self._text, self._state, *said)

    def plot(self, name: str, ax: Axes | None = None) -> Axes:
        """Draw one picture with matplotlib, on these axes or on a figure of its own, and return the axes.

        What is drawn carries the numbers of the report. Needs the extra `calipers[plot]`.
        """
        return plot.draw(
            json.loads(_calipers.report_chart(self._text, self._state, text_of("name", name))), ax
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for every number: `id`, `value`, `reason`."""
        made: pd.DataFrame = frames.frame(frames.numbers(self, self._parsed["undefined"]), "pandas")
        return made

    def to_polars(self) -> pl.DataFrame:
        """Return a data frame with a row for every number: `id`, `value`, `reason`."""
        made: pl.DataFrame = frames.frame(frames.numbers(self, self._parsed["undefined"]), "polars")
        return made

    def __repr__(self) -> str:
        return _calipers.report_table(self._text, shutil.get_terminal_size((100, 24)).columns).rstrip("\n")

    def _repr_html_(self) -> str:
        return _calipers.report_notebook(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, (self._text,)


def _ids(select: Sequence[str] | None) -> list[str] | None:
    if select is None:
        return None
    return texts("select", select)

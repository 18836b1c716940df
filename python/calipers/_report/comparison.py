"""Models over the same units: paired differences, their intervals and tests."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from calipers import _calipers
from calipers._errors import InputTypeError, UsageError
from calipers._evaluator import EvaluatorBase
from calipers._extras import library
from calipers._inputs.arguments import flag, number, text, texts, whole, wrong_type
from calipers._report.markup import from_markdown

if TYPE_CHECKING:
    import pandas as pd

Model: TypeAlias = "EvaluatorBase | bytes | str | os.PathLike[str]"
"""An evaluator, the bytes of a state, or the path of a state or per-unit file."""

_COLUMNS = (
    "metric",
    "better",
    "first",
    "model",
    "first_value",
    "value",
    "difference",
    "low",
    "high",
    "wins",
    "ties",
    "losses",
    "left_out",
    "sign_p",
    "permutation_p",
    "exact",
    "adjusted_p",
)


class _Kept(NamedTuple):
    """A comparison that was sent elsewhere: what can be asked of it."""

    texts: dict[str, str]

    @classmethod
    def of(cls, compared: _calipers.Compared | _Kept) -> _Kept:
        """Take everything that it says, its table in the usual width."""
        said = {name: getattr(compared, name)() for name in ("json", "csv", "html")}
        for all, plus_minus in product((False, True), repeat=2):
            said[f"markdown {all} {plus_minus}"] = compared.markdown(all, plus_minus)
            said[f"latex {all} {plus_minus}"] = compared.latex(all, plus_minus)
        return cls({**said, "table": compared.table(100)})

    def table(self, width: int) -> str:
        """Return the table."""
        return self.texts["table"]

    def json(self) -> str:
        """Return the JSON."""
        return self.texts["json"]

    def csv(self) -> str:
        """Return the CSV."""
        return self.texts["csv"]

    def markdown(self, all: bool, plus_minus: bool) -> str:
        """Return Markdown."""
        return self.texts[f"markdown {all} {plus_minus}"]

    def latex(self, all: bool, plus_minus: bool) -> str:
        """Return LaTeX."""
        return self.texts[f"latex {all} {plus_minus}"]

    def figures(self) -> list[tuple[str, str, str | None]]:
        """Refuse: what is drawn is not sent along."""
        raise UsageError("a comparison that was sent elsewhere holds no figures\n     help: compare again")

    def figure(self, name: str, format: str, width: str | None, style: str) -> bytes:
        """Refuse, likewise."""
        raise UsageError("a comparison that was sent elsewhere holds no figures\n     help: compare again")

    def html(self) -> str:
        """Return the page."""
        return self.texts["html"]


class Comparison(Mapping[str, dict[str, Any]]):
    """Differences of each later model from the first, by metric id; the family's prefix may be left out.

    A value holds `better`, the `values` by model, and `against_first`; with three or more models `ranks` too.
    `against_first` has for each later model the `difference`, its `interval`, and `paired`, which compares
    unit by unit: `wins`, `ties`, `losses`, `sign_p`, `permutation_p`, `adjusted_p` and the units that
    `differ_most`. Missing numbers are `None`.
    """

    def __init__(self, compared: _calipers.Compared | _Kept) -> None:
        """Take what `compare` found."""
        self._compared = compared

    def __copy__(self) -> Comparison:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Comparison:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Comparison, (_Kept.of(self._compared),)

    @cached_property
    def _parts(self) -> list[dict[str, Any]]:
        parsed = json.loads(self._compared.json())
        return parsed if isinstance(parsed, list) else [parsed]

    @cached_property
    def _lines(self) -> dict[str, dict[str, Any]]:
        if len(self._parts) == 1:
            return dict(self._parts[0]["metrics"])
        subjects = [part["subject"] or str(place) for place, part in enumerate(self._parts)]
        return {
            f"{subject}: {id}": line
            for subject, part in zip(subjects, self._parts, strict=True)
            for id, line in part["metrics"].items()
        }

    @property
    def models(self) -> list[str]:
        """The names of the models, the first one to compare with."""
        return [model["name"] for model in self._parts[0]["models"]]

    @property
    def units(self) -> int:
        """How many units each model has."""
        return int(self._parts[0]["units"])

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What looks wrong: `code` and `message`."""
        return [warning for part in self._parts for warning in part["warnings"]]

    def __getitem__(self, id: str) -> dict[str, Any]:
        for name in (id, f"{self._parts[0]['family']}.{id}"):
            if name in self._lines:
                return self._lines[name]
        prefix = f"{self._parts[0]['family']}."
        raise _calipers.unknown_metric(id, [name.removeprefix(prefix) for name in self._lines])

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def to_json(self) -> str:
        """Return the bytes that the command line's `--json` writes."""
        return self._compared.json()

    def to_csv(self) -> str:
        """Return one row per number and later model."""
        return self._compared.csv()

    def to_markdown(self, *, all: bool = False, plus_minus: bool = False) -> str:
        """Return the tables as Markdown; `all` adds the ranks by every metric.

        `plus_minus` writes intervals as ±, the distance of their farther end.
        """
        return self._compared.markdown(flag("all", all), flag("plus_minus", plus_minus))

    def to_latex(self, *, all: bool = False, plus_minus: bool = False) -> str:
        """Return the tables as booktabs tables; `all` adds the ranks by every metric.

        `plus_minus` writes intervals as ±, the distance of their farther end.
        """
        return self._compared.latex(flag("all", all), flag("plus_minus", plus_minus))

    def to_html(self) -> str:
        """Return the page that the command line's `--html` writes."""
        return self._compared.html()

    @property
    def figures(self) -> list[str]:
        """The names of the pictures of all models, as `calipers plot` lists them for several states."""
        return [name for name, _, missing in self._compared.figures() if missing is None]

    def figure(
        self,
        name: str,
        format: Literal["svg", "png", "pdf"] = "svg",
        *,
        width: str | None = None,
        style: Literal["paper", "slides", "dark"] = "paper",
    ) -> bytes:
        """Return one picture of all models as a file; see `Report.figure`."""
        wide = None if width is None else text("width", width)
        return self._compared.figure(text("name", name), text("format", format), wide, text("style", style))

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for id, line in self._lines.items():
            (first, ours), *others = line["values"].items()
            for model, theirs in others:
                found = line["against_first"][model] or {}
                paired = found.get("paired") or {}
                low, high = found.get("interval") or (None, None)
                numbers = (paired.get(key) for key in ("wins", "ties", "losses", "left_out", "sign_p"))
                tests = (paired.get(key) for key in ("permutation_p", "permutation_exact", "adjusted_p"))
                yield (
                    *(id, line["better"], first, model, ours, theirs, found.get("difference"), low, high),
                    *numbers,
                    *tests,
                )

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for every number and later model, columns as in the CSV."""
        table = library("pandas", "a data frame of pandas").DataFrame
        made: pd.DataFrame = table(list(self._rows()), columns=list(_COLUMNS))
        return made

    def __repr__(self) -> str:
        return self._compared.table(shutil.get_terminal_size((100, 24)).columns).rstrip("\n")

    def _repr_html_(self) -> str:
        return from_markdown(self.to_markdown())


def compare(
    *models: Model | Mapping[str, Model],
    names: Sequence[str] | None = None,
    metrics: Sequence[str] = (),
    by_label: bool = False,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    interval: Literal["expanded", "percentile", "bca"] = "expanded",
    cluster_by: str | Mapping[str, str] | None = None,
    between: Literal["groups"] | None = None,
    run_by: str | None = None,
    threads: int | None = None,
) -> Comparison:
    """Compare models over the same units: every later one with the first, three and more by rank too.

    A model is an evaluator, the bytes of a state, or the path of a state or per-unit file. One mapping gives
    models by name. Units must be the same, and so must everything that says what is measured. How a
    prediction is read may differ.

    `cluster_by` draws units of a cluster together: a rule as on the command line, or a mapping from names to
    clusters. `between="groups"` compares the groups of one training state. `run_by="regex:.."` says what runs
    of attacked models are called whatever their model is.

    `metrics` names ids to compare, with or without their family. Without it, every metric with a better
    direction is compared. `by_label` adds those that have a number for each class or group. The numbers are
    those of `calipers compare`.

    >>> import calipers as cp
    >>> def measured(flip):
    ...     acc = cp.independent_set.Evaluator()
    ...     for unit in range(6):
    ...         logits = [1.0, -1.0] if unit % flip else [-1.0, 1.0]
    ...         acc.update(f"g{unit}", edge_index=[[0, 1], [1, 0]], logits=logits, labels=[1, 0])
    ...     return acc
    >>> found = cp.compare({"rarely": measured(5), "often": measured(2)}, metrics=["accuracy"])
    >>> line = found["accuracy"]
    >>> line["against_first"]["often"]["difference"] < 0
    True
    >>> line["against_first"]["often"]["paired"]["losses"]
    2
    """
    chosen: list[Any] = list(models)
    if len(chosen) == 1 and isinstance(chosen[0], Mapping):
        if names is not None:
            raise UsageError("a mapping names its models already\n     do: leave out `names`")
        names = list(chosen[0])
        chosen = list(chosen[0].values())

    def given(model: Any) -> bytes | os.PathLike[str] | str:
        if isinstance(model, EvaluatorBase):
            return model.to_bytes()
        if isinstance(model, (bytes, bytearray, memoryview)):
            return bytes(model)
        if isinstance(model, (str, os.PathLike)):
            return model
        raise InputTypeError(
            f"a model is an evaluator, the bytes of a state or a path\n    found: {type(model).__name__}"
        )

    ids = texts("metrics", metrics)
    names = None if names is None else texts("names", names)
    workers = os.cpu_count() or 1 if threads is None else whole("threads", threads, 1)
    if cluster_by is not None and not isinstance(cluster_by, str | Mapping):
        raise wrong_type("cluster_by", cluster_by, "a rule in words, or a mapping from names to clusters")
    clusters: Any = cluster_by
    if isinstance(cluster_by, Mapping):
        names_of = {text("cluster_by", unit): of for unit, of in cluster_by.items()}
        clusters = {unit: text(f"cluster_by[{unit!r}]", of) for unit, of in names_of.items()}
    return Comparison(
        _calipers.compare_models(
            [given(model) for model in chosen],
            names,
            ids,
            flag("by_label", by_label),
            whole("resamples", resamples, 0, 2**32 - 1),
            number("confidence", confidence),
            whole("seed", seed, 0),
            text("interval", interval),
            clusters,
            None if between is None else text("between", between),
            None if run_by is None else text("run_by", run_by),
            workers,
        )
    )

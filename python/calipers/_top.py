"""What is done with several families at once: metrics, states, reports."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from calipers import _calipers
from calipers._errors import UsageError
from calipers._evaluator import EvaluatorBase
from calipers._inputs.arguments import flag, text, whole, wrong_type
from calipers._inputs.paths import Path, path_text
from calipers._report import Report
from calipers._report.short import short


class Metric(NamedTuple):
    """A metric: `better` is "higher", "lower" or `None`."""

    id: str
    family: str
    better: str | None
    range: str
    measures: str

    def __repr__(self) -> str:
        return short(self)


def metrics(family: str | None = None) -> list[Metric]:
    """Return the metrics of a family, or of all.

    >>> metrics("segmentation")[0].id
    'segmentation.iou'
    """
    named = None if family is None else text("family", family)
    return [Metric(*fields) for fields in _calipers.metric_list(named)]


class Definition(str):
    """What a metric means: the text of `calipers explain`, and its parts."""

    __slots__ = (
        "better", "differs_from", "example", "formula", "id", "measures", "range", "reference",
        "undefined_when",
    )  # fmt: skip
    id: str
    measures: str
    formula: str
    range: str
    better: str | None
    undefined_when: str
    differs_from: str
    reference: str
    example: str

    def __repr__(self) -> str:
        return f"<calipers.Definition of {self.id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return explain, (self.id,)


_FIELDS = (
    "id", "measures", "formula", "range", "better", "undefined_when", "differs_from", "reference", "example",
)  # fmt: skip


def explain(id: str) -> Definition:
    """Return the definition of a metric; the family may be left out where only one has the id.

    >>> str(explain("miou")).splitlines()[0], explain("miou").better
    ('segmentation.miou', 'higher')
    """
    if not isinstance(id, str):
        raise wrong_type("id", id, "the id of a metric")
    said, fields = _calipers.metric_definition(id)
    made = Definition(said)
    for name, field in zip(_FIELDS, fields, strict=True):
        setattr(made, name, field)
    return made


def _evaluator(state: _calipers.State) -> EvaluatorBase:
    made: EvaluatorBase = importlib.import_module(f"calipers.{state.family()}").Evaluator._of(state)
    return made


def load(path_or_bytes: Path | bytes) -> Any:
    """Return the evaluator of a state, or the report of a report.json; a list where there are several.

    >>> import calipers as cp
    >>> acc = cp.training.Evaluator()
    >>> load(acc.to_bytes()) == acc
    True
    """
    data = bytes(path_or_bytes) if isinstance(path_or_bytes, bytearray | memoryview) else path_or_bytes
    states, texts = _calipers.load(data)
    found: list[Any] = [_evaluator(state) for state in states] or [Report(one) for one in texts]
    return found[0] if len(found) == 1 else found


def merge(states: Iterable[EvaluatorBase | bytes | Path], *, threads: int | None = None) -> Any:
    """Return an evaluator of the units of evaluators, of states as bytes, and of state files.

    Their order does not matter. Equal rows under one name coincide; unequal ones raise `ConflictError`.

    >>> import calipers as cp
    >>> one, two = cp.training.Evaluator(), cp.training.Evaluator()
    >>> one.update("cfg/0", [0.5, 0.95])
    >>> two.update("cfg/1", [0.2, 0.3, 0.97])
    >>> len(merge([one, two.to_bytes()]))
    2
    """
    if isinstance(states, str | bytes | EvaluatorBase) or not isinstance(states, Iterable):
        raise wrong_type("states", states, "evaluators, bytes of states and paths, in a list")
    given = list(states)
    if not given:
        raise UsageError("states is empty\n  allowed: one evaluator, state or path, or more")
    workers = None if threads is None else whole("threads", threads, 1)
    with ThreadPoolExecutor(workers) as pool:
        opened = list(pool.map(_opened, given))
    names = [
        str(one) if isinstance(one, str | os.PathLike) else f"states[{at}]" for at, one in enumerate(given)
    ]
    merged = opened[0]._copied(names[0])
    for other, name in zip(opened[1:], names[1:], strict=True):
        merged._take_in(other, name)
    return merged


def _opened(given: Any) -> EvaluatorBase:
    if isinstance(given, EvaluatorBase):
        return given
    found = load(given)
    if not isinstance(found, EvaluatorBase):
        raise UsageError(
            f"states holds something else than states of one protocol\n    found: {type(found).__name__}\n"
            "  allowed: evaluators, bytes of states and paths of them"
        )
    return found


def to_json(reports: Sequence[Report]) -> str:
    """Return the array that the command line writes for several reports.

    >>> import calipers as cp
    >>> report = cp.training.Evaluator().report()
    >>> [one.units for one in cp.load(to_json([report, report]).encode())]
    [0, 0]
    """
    if isinstance(reports, Report) or not isinstance(reports, Iterable):
        raise wrong_type("reports", reports, "a list of reports")
    for report in reports:
        if not isinstance(report, Report):
            raise wrong_type("reports", report, "a list of reports")
    return _calipers.report_array([report.to_json() for report in reports])


def verify(path: Path, *, root: Path | None = None, threads: int | None = None) -> list[str]:
    """Measure again what a report or a state names, and return what differs: nothing where it is the same.

    Paths in the report are relative to `root`, or to the working directory.
    """
    given = {
        "root": None if root is None else path_text(root, "root"),
        "threads": None if threads is None else whole("threads", threads, 1),
    }
    return _calipers.verify(path, given)


def demo(out: Path = "calipers-demo", *, seed: int = 0) -> list[Report]:
    """Make a small data set of every family, score it, and return the reports."""
    given = {"out": path_text(out, "out"), "seed": whole("seed", seed, 0)}
    return [Report(one) for one in _calipers.demo(given)]


def serve(folder: Path, *, port: int = 0, open: bool = False) -> None:
    """Serve the reports of a folder as a local page, print its address, and go on until Ctrl-C."""
    in_browser = flag("open", open)

    def tell(address: str) -> None:
        print(address, flush=True)
        if in_browser:
            import webbrowser

            webbrowser.open(address)

    _calipers.serve(folder, {"port": whole("port", port, 0, 65535)}, tell)

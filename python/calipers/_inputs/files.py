"""Files measured as the command line measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from calipers import _calipers
from calipers._errors import UsageError
from calipers._inputs.arguments import flag
from calipers._inputs.paths import Path

if TYPE_CHECKING:
    from calipers._evaluator import EvaluatorBase

E = TypeVar("E", bound="EvaluatorBase")


def evaluate(kind: type[E], inputs: tuple[Path, ...], options: dict[str, Any]) -> list[E]:
    """Return an evaluator for every report that the family's command would make."""
    progress, strict = options.pop("progress", False), flag("strict", options.pop("strict", False))
    states, chosen = _calipers.evaluate(kind.family, list(inputs), options, progress)
    remembered = {key: options[key] for key in _calipers.report_keywords() if options.get(key) is not None}
    if chosen:
        remembered["metrics"] = chosen
    made = [kind._of(state) for state in states]
    for one in made:
        one._remembered = dict(remembered) if kind._remembers else {}
    if strict:
        _refuse_warnings(made)
    return made


def _refuse_warnings(made: list[E]) -> None:
    # That a shard is one is no warning.
    of_shards = ("missing-shards", "listings-differ")
    reports = [one.report(bootstrap=0, partial=True) for one in made]
    all_warnings = [warning for report in reports for warning in report.warnings]
    warnings = [warning for warning in all_warnings if warning["code"] not in of_shards]
    if warnings:
        said = "; ".join(f"{warning['code']}: {warning['message']}" for warning in warnings)
        error = UsageError(f"there are warnings, and strict=True\n    found: {said}")
        error.evaluator = made[0] if len(made) == 1 else made
        raise error

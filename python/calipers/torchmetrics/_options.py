"""Options, ids and names as they are given, checked before anything is measured."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Sequence
from typing import Any, TypeAlias

from torch import Tensor

from calipers import _calipers
from calipers._errors import InputError, UnknownMetricError, UsageError
from calipers._inputs.arguments import arguments, wrong_type

Names: TypeAlias = Sequence[str] | Sequence[int] | Tensor
"""One text, or the number of the sample in its data set, for each unit of a batch."""
Ids: TypeAlias = str | Sequence[str] | None
"""One id, several, or the headline of the family."""

_OF_TORCHMETRICS = {
    "compute_on_cpu",
    "compute_with_cache",
    "dist_sync_fn",
    "dist_sync_on_step",
    "distributed_available_fn",
    "process_group",
    "sync_on_compute",
}


def split(options: dict[str, Any], evaluator: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of `torchmetrics.Metric` and those of the evaluator; others are refused by name."""
    options = arguments(options, sorted({*inspect.signature(evaluator).parameters, *_OF_TORCHMETRICS}))
    own = {key: value for key, value in options.items() if key in _OF_TORCHMETRICS}
    return own, {key: value for key, value in options.items() if key not in own}


def known_id(id: str, family: str) -> str:
    """Return an id, or a path such as `iou.sky` below one, without the family."""
    bare = id.removeprefix(f"{family}.")
    ids = [
        known.removeprefix(f"{family}.") for known in _calipers.metric_ids() if known.startswith(f"{family}.")
    ]
    if bare in ids or any(bare.startswith(f"{known}.") for known in ids):
        return bare
    near = difflib.get_close_matches(bare, ids, 1)
    raise UnknownMetricError(
        f"there is no metric of that id\n       at: metrics\n    found: {id}\n"
        + (f"     help: did you mean {near[0]}?" if near else f"  allowed: the ids of {family}")
    )


def many(argument: str, arrays: Any) -> int:
    """Return how many units an array or a list of them holds."""
    try:
        return len(arrays)
    except TypeError:
        raise wrong_type(argument, arrays, "an array with an axis of units, or a list of arrays") from None


def texts(names: Names | None, units: int | None) -> list[str]:
    """Return the names of a batch as texts, as many as there are units."""
    if names is None or isinstance(names, str):
        raise UsageError(
            "every unit of a batch needs a name\n       at: names\n"
            f"    found: {names!r}\n  allowed: a list of texts, or of sample numbers\n"
            "     help: name samples by their place in the data set; numbers counted in each process would\n"
            "           let a repeated sample count twice, and two samples pass for one"
        )
    found = [str(name.item() if isinstance(name, Tensor) else name) for name in names]
    if units is not None and len(found) != units:
        raise InputError(f"names and units differ in number\n    found: {len(found)}\n  allowed: {units}")
    return found

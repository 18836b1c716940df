"""One number of a metric, as a metric of its own that shares the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torchmetrics import Metric

from calipers._errors import UnknownMetricError, UsageError
from calipers._report import Report, Value

if TYPE_CHECKING:
    from calipers.torchmetrics._base import EvaluatorMetric


def scalars(report: Report, ids: list[str]) -> list[str]:
    """Return the paths of all single numbers at or below these ids."""
    found: list[str] = []

    def visit(path: str, value: Value) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                visit(f"{path}.{key}", inner)
        elif not isinstance(value, list):
            found.append(path)

    for id in ids:
        visit(id, value_at(report, id))
    return found


def value_at(report: Report, path: str) -> Value:
    """Return the value at an id or a path such as `iou.sky`; `None` where the id is not reported."""
    rest, parts = path, list[str]()
    while rest not in report:
        rest, dot, last = rest.rpartition(".")
        parts.append(last)
        if not dot:
            return None
    value, names = report[rest], ".".join(reversed(parts))
    # A name may hold dots itself.
    while names:
        key = next((key for key in _shorter(names) if isinstance(value, dict) and key in value), None)
        if key is None:
            raise UnknownMetricError(f"the report has no number of that name\n    found: {path}")
        value, names = value[key], names[len(key) + 1 :]
    return value


def _shorter(names: str) -> list[str]:
    parts = names.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def number_tensor(value: Value, device: torch.device) -> Tensor:
    """Return a number or a series in double precision; NaN is undefined."""
    # Apple's devices have no double precision.
    dtype = torch.float32 if device.type == "mps" else torch.float64
    return torch.tensor(_nan(value), dtype=dtype, device=device)


def _nan(value: Value) -> Any:
    if isinstance(value, list):
        return [_nan(inner) for inner in value]
    return float("nan") if value is None else float(value)


class OneNumber(Metric):
    """A number of a metric: updating, resetting or moving either is the same."""

    full_state_update = False
    is_differentiable = False

    def __init__(self, whole: EvaluatorMetric[Any], path: str) -> None:
        """Read the number at `path` of the whole."""
        # It has no state of its own to gather, and nothing to remember.
        super().__init__(sync_on_compute=False, compute_with_cache=False)
        self._path = path
        # In a tuple: torch takes a plain attribute for a part, and parts that hold their whole have no end.
        self._whole = (whole,)

    def __repr__(self) -> str:
        return f"<calipers.torchmetrics, {self._whole[0]._empty.family}.{self._path}>"[:100]

    @property
    def _forward_cache(self) -> Tensor | None:
        report = self._whole[0]._batch_report
        return None if report is None else self._read(report)

    @_forward_cache.setter
    def _forward_cache(self, value: None) -> None:
        """Torchmetrics forgets; there is nothing to forget."""

    @property
    def update_called(self) -> bool:
        """Whether the whole was updated."""
        return bool(self._whole[0].update_called)

    @property
    def update_count(self) -> int:
        """How often the whole was updated."""
        return int(self._whole[0].update_count)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Update the whole."""
        self._whole[0].update(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Update the whole, and return the number of this batch."""
        self._whole[0](*args, **kwargs)
        found = self._forward_cache
        assert found is not None
        return found

    def compute(self) -> Tensor:
        """Return the number of all units; NaN is undefined."""
        return self._read(self._whole[0]._synced_report())

    def reset(self) -> None:
        """Reset the whole."""
        super().reset()
        self._whole[0].reset()

    def _read(self, report: Report) -> Tensor:
        value = value_at(report, self._path)
        if isinstance(value, dict | list):
            raise UsageError(
                f"this is not one number\n       at: {self._path}\n    found: {len(value)} values\n"
                "     help: name one of them, as in metric['iou.road']"
            )
        return number_tensor(value, self._whole[0].device)

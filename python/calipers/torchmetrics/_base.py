"""What the metrics of all families share: states as tensors, merged by name between processes."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities.distributed import gather_all_tensors
from torchmetrics.utilities.exceptions import TorchMetricsUserError

from calipers import _calipers
from calipers._errors import DuplicateError, UsageError
from calipers._evaluator import EvaluatorBase
from calipers._inputs.arguments import text
from calipers._inputs.arguments import texts as all_texts
from calipers._report import Report, Value
from calipers.torchmetrics._numbers import OneNumber, number_tensor, scalars, value_at
from calipers.torchmetrics._options import Ids, known_id
from calipers.torchmetrics._rows import Seen, appended, data, tensor

E = TypeVar("E", bound=EvaluatorBase)

_LIGHTNING = "trainer.connectors.logger_connector.result"


class EvaluatorMetric(Metric, Generic[E]):
    """A `torchmetrics.Metric` over an evaluator."""

    full_state_update = False
    is_differentiable = False

    _headline: ClassVar[tuple[str, ...]]
    protocol: Tensor
    """The state without a unit, as bytes: two metrics measure the same if these are equal."""
    measured: list[Tensor]
    """The rows of all batches, as bytes."""

    def __init__(self, empty: E, metrics: Ids, prefix: str | None, options: dict[str, Any]) -> None:
        """Measure as `empty` does, and compute these metrics."""
        super().__init__(**options)
        self._empty = empty
        self._prefix = f"{empty.family}." if prefix is None else text("prefix", prefix)
        self._single = isinstance(metrics, str)
        chosen = self._headline if metrics is None else all_texts("metrics", metrics)
        self._ids = [known_id(id, empty.family) for id in chosen]
        self._seen = Seen()
        self._seen_until: Tensor | None = None
        self._whole_report: tuple[list[Tensor], Report] | None = None
        self._batch_report: Report | None = None
        self._last: E | None = None
        self.add_state("protocol", default=tensor(empty.to_bytes()), dist_reduce_fx=None)
        self.add_state("measured", default=[], dist_reduce_fx=None)
        self._numbers = torch.nn.ModuleList()
        self._paths: dict[str, int] = {}
        for path in scalars(empty.report(), self._ids):
            self._number(path)

    def evaluator(self) -> E:
        """Return an evaluator of the units of every process; all processes must call this together."""
        with self.sync_context(
            dist_sync_fn=self.dist_sync_fn,
            should_sync=self.sync_on_compute and not self._is_synced,
            should_unsync=not self._is_synced,
        ):
            return self._merged(self.measured)

    def report(self, **options: Any) -> Report:
        """Return the report of the units of every process; all processes must call this together.

        `options` are those of the evaluator's `report`.
        """
        return self.evaluator().report(**options)

    def compute(self) -> Tensor | dict[str, Tensor]:
        """Return the chosen metrics in double precision on the metric's device; NaN is undefined.

        One id gives a tensor. Several give a dictionary, in which values by class have the class behind the
        id, as in `iou.sky`; series are tensors with an axis.
        """
        if not self._single and _asked_by_lightning():
            raise UsageError(
                f"`log` takes one number, and this metric has several\n    found: {', '.join(self._ids)}\n"
                f'  allowed: metrics="{self._ids[0]}", or log(name, metric["{self._ids[0]}"])\n'
                "     help: log_dict(metric) logs them all"
            )
        return self._values(self._synced_report())

    def forward(self, *args: Any, **kwargs: Any) -> Tensor | dict[str, Tensor]:
        """Update, and return the metrics of this batch: with `dist_sync_on_step`, that of every process."""
        if self._is_synced:
            raise TorchMetricsUserError("a synced metric takes no batch: call `unsync` first")
        self._batch_report = None
        self.update(*args, **kwargs)
        batch, self._last = self._last, None
        assert batch is not None
        if self.dist_sync_on_step and self.distributed_available_fn():
            gather = self.dist_sync_fn or gather_all_tensors
            batch = self._merged(self._gathered(batch, gather, self.process_group))
        self._batch_report = batch.report()
        self._forward_cache = self._values(self._batch_report)
        return self._forward_cache

    def reset(self) -> None:
        """Forget all units."""
        super().reset()
        self._whole_report = self._batch_report = None

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw the values of `compute`, those given, or several in a row: (figure, axes) of matplotlib."""
        return self._plot(val, ax)

    def __getitem__(self, id: str) -> OneNumber:
        """Return one number as a metric that shares this one's state: `metric["iou.sky"]`."""
        return self._number(known_id(id, self._empty.family))

    def _number(self, path: str) -> OneNumber:
        if path not in self._paths:
            self._paths[path] = len(self._numbers)
            self._numbers.append(OneNumber(self, path))
        number: OneNumber = self._numbers[self._paths[path]]
        return number

    def _named(self) -> dict[str, OneNumber]:
        report = self._empty.report()
        if not all(value_at(report, id) != {} for id in self._ids):
            # Groups and conditions are known from the units that were measured here.
            report = self._merged(self.measured).report()
        return {f"{self._prefix}{path}": self._number(path) for path in scalars(report, self._ids)}

    def keys(self) -> KeysView[str]:
        """Return the names of the chosen numbers."""
        return self._named().keys()

    def values(self) -> ValuesView[OneNumber]:
        """Return the chosen numbers, each a metric."""
        return self._named().values()

    def items(self) -> ItemsView[str, OneNumber]:
        """Return the chosen numbers by name, for `log_dict`."""
        return self._named().items()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the last batch, which only `forward` reads."""
        return {**super().__getstate__(), "_last": None}

    def __repr__(self) -> str:
        units = f"{self._update_count} update{'' if self._update_count == 1 else 's'}"
        return f"<calipers.torchmetrics.{type(self).__name__}, {units}: {', '.join(self._ids)}>"[:100]

    def _synced_report(self) -> Report:
        """Read the report once for any number of metrics that share it."""
        known = self._whole_report
        # The tensors themselves: another metric of a compute group may have put new ones here.
        if known is not None and list(map(id, known[0])) == list(map(id, self.measured)):
            return known[1]
        local = list(self.measured)
        report = self._merged(self.measured).report() if self._is_synced else self.evaluator().report()
        if not self._is_synced:
            self._whole_report = (local, report)
        return report

    def _sync_dist(self, dist_sync_fn: Any = gather_all_tensors, process_group: Any = None) -> None:
        group = process_group or self.process_group
        self.measured = self._gathered(self._merged(self.measured), dist_sync_fn, group)

    def _gathered(self, mine: E, dist_sync_fn: Any, group: Any) -> list[Tensor]:
        """Every process sends one tensor, of whatever length, and merges those of all in order of rank."""
        sent = dist_sync_fn(tensor(mine.to_bytes()).to(self.device), group=group)
        whole: _calipers.State | None = None
        for rank, state in enumerate(sent):
            part = _calipers.State.from_bytes(data(state), f"rank {rank}")
            if whole is None:
                whole = part
            else:
                whole.merge_repeated(part, f"rank {rank}")
        assert whole is not None
        self._tell_of_padding(whole)
        return [tensor(whole.rows())]

    def _tell_of_padding(self, whole: _calipers.State) -> None:
        if torch.distributed.is_initialized() and torch.distributed.get_rank() != 0:
            return
        empty = copy.copy(self._empty)
        empty._state = whole
        for warning in empty.report().warnings:
            if warning["code"] == "padded-rows-differ":
                warnings.warn(f"padded-rows-differ: {warning['message']}", UserWarning, stacklevel=2)

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        _check_protocol(self._empty, incoming_state["protocol"])
        self.measured = [*self.measured, *(rows.to(self.device) for rows in incoming_state["measured"])]

    def _merged(self, rows: Iterable[Tensor]) -> E:
        _check_protocol(self._empty, self.protocol)
        merged = copy.copy(self._empty)
        for part in rows:
            merged._state.add_rows(data(part), "the metric")
        return merged

    def _append(self, batch: E, names: list[str]) -> None:
        """Keep a measured batch, unless this process has measured one of its units before."""
        last = self.measured[-1] if self.measured else None
        if last is not self._seen_until:
            # The state was reset, loaded, merged or moved.
            self._seen = Seen(self._units())
        if self._seen.may_have(names):
            known = set(self._units())
            for name in names:
                if name in known:
                    raise DuplicateError(
                        f"unit '{name}' occurs twice\n       at: names\n"
                        "     help: name samples by their place in the data set, not in the batch;\n"
                        "           call reset() between epochs"
                    )
        self._seen.add(names)
        self.measured = appended(self.measured, tensor(batch._state.rows()))
        self._seen_until = self.measured[-1]
        self._last = batch
        self._whole_report = None

    def _units(self) -> list[str]:
        return self._merged(self.measured).per_unit()["unit"] if self.measured else []

    def _values(self, report: Report) -> Tensor | dict[str, Tensor]:
        if self._single:
            return self._number(self._ids[0])._read(report)
        leaves = (leaf for id in self._ids for leaf in _leaves(id, value_at(report, id)))
        return {f"{self._prefix}{path}": number_tensor(value, self.device) for path, value in leaves}


def _leaves(path: str, value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}", inner)
    else:
        yield path, value


def _check_protocol(empty: EvaluatorBase, protocol: Tensor) -> None:
    """Refuse rows that were measured another way, such as those of a checkpoint."""
    given = data(protocol)
    if given != empty.to_bytes():
        copy.copy(empty)._state.merge(
            _calipers.State.from_bytes(given, "the other metric"), "the other metric"
        )


def _asked_by_lightning() -> bool:
    """Return whether Lightning's `log` wants the one number of a metric."""
    frame = sys._getframe(1)
    for _ in range(8):
        if str(frame.f_globals.get("__name__")).endswith(_LIGHTNING):
            return True
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False

"""The evaluators as `torchmetrics.Metric`s, for Lightning and for your own loops; needs torchmetrics.

A metric keeps the mergeable state of its evaluator. Between processes it is gathered and merged by unit
name. Uneven shards and samples that a `DistributedSampler` repeats give the numbers of one process, bit for
bit. That is why every unit needs a name that is the same wherever it is measured.

>>> class Segmenter(torch.nn.Module):  # or lightning.LightningModule, which calls these methods itself
...     def __init__(self):
...         super().__init__()
...         labels = {"original": ["road", "sky"], "ignore": [255]}
...         self.score = Segmentation(labels, kind="logits", metrics=["miou", "iou"], prefix="val/")
...
...     def forward(self, image):
...         return torch.stack([1 - image, image], dim=1)
...
...     def validation_step(self, batch, batch_idx):
...         self.score.update(self(batch["image"]), batch["truth"], names=batch["name"])
...
...     def on_validation_epoch_end(self):
...         values = self.score.compute()  # self.log_dict(values)
...         self.score.reset()
...         return {id: value.item() for id, value in values.items()}
>>> model = Segmenter()
>>> model.validation_step({"image": torch.ones(2, 1, 2), "truth": torch.tensor([[[1, 1]], [[0, 255]]]),
...                        "name": ["a", "b"]}, 0)
>>> model.validation_step({"image": torch.zeros(1, 1, 1), "truth": torch.tensor([[[0]]]), "name": ["c"]}, 1)
>>> model.score.report().units
3
>>> model.on_validation_epoch_end()
{'val/miou': 0.5833333333333333, 'val/iou.road': 0.5, 'val/iou.sky': 0.6666666666666666}
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from calipers import _calipers, explanation, independent_set, segmentation
from calipers._errors import DuplicateError, InputError, UnknownMetricError, UsageError
from calipers._evaluator import EvaluatorBase
from calipers._report import Report, Value

try:
    import torch
    from torch import Tensor
    from torchmetrics import Metric
    from torchmetrics.utilities.distributed import gather_all_tensors
    from torchmetrics.utilities.exceptions import TorchMetricsUserError
except ImportError as error:
    raise ImportError(
        f"calipers.torchmetrics needs torch and torchmetrics ({error})\n"
        "     help: pip install 'calipers[torchmetrics]'"
    ) from error

__all__ = ["Explanation", "IndependentSet", "Segmentation"]

Names: TypeAlias = Sequence[str] | Sequence[int] | Tensor
"""One text, or the number of the sample in its data set, for each unit of a batch."""

_OF_TORCHMETRICS = {
    "compute_on_cpu",
    "compute_with_cache",
    "dist_sync_fn",
    "dist_sync_on_step",
    "distributed_available_fn",
    "process_group",
    "sync_on_compute",
}

E = TypeVar("E", bound=EvaluatorBase)


class _EvaluatorMetric(Metric, Generic[E]):
    """What the metrics of all families share."""

    full_state_update = False
    is_differentiable = False

    _headline: ClassVar[tuple[str, ...]]
    measured: list[Tensor]
    """The state of each batch, as bytes."""

    def __init__(
        self, empty: E, metrics: Sequence[str] | None, prefix: str | None, options: dict[str, Any]
    ) -> None:
        super().__init__(**options)
        self._empty = empty
        self._prefix = f"{empty.family}." if prefix is None else prefix
        self._ids = [_known(id, empty.family) for id in (self._headline if metrics is None else metrics)]
        self._names: set[str] = set()
        self._names_until: Tensor | None = None
        self.add_state("measured", default=[], dist_reduce_fx=None)

    def evaluator(self) -> E:
        """Return an evaluator of the units of every process; all processes must call this together."""
        with self.sync_context(
            dist_sync_fn=self.dist_sync_fn,
            should_sync=self.sync_on_compute and not self._is_synced,
            should_unsync=not self._is_synced,
        ):
            return self._merged(self.measured)

    def report(self, *, bootstrap: int = 0, confidence: float = 0.95, seed: int = 0) -> Report:
        """Return the whole report of the units of every process; all processes must call this together."""
        return self.evaluator().report(bootstrap=bootstrap, confidence=confidence, seed=seed)

    def compute(self) -> dict[str, Tensor]:
        """Return the chosen metrics in double precision on the metric's device; NaN is undefined.

        Values by class have the class behind the id, as in `iou.sky`; series are tensors with an axis.
        """
        return self._values(self._merged(self.measured))

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Update, and return the metrics of this batch: with `dist_sync_on_step`, that of every process."""
        if self._is_synced:
            raise TorchMetricsUserError("a synced metric takes no batch: call `unsync` first")
        self.update(*args, **kwargs)
        batch = self.measured[-1:]
        if self.dist_sync_on_step and self.distributed_available_fn():
            batch = self._gathered(batch, self.dist_sync_fn or gather_all_tensors, self.process_group)
        self._forward_cache = self._values(self._merged(batch))
        return self._forward_cache

    def _sync_dist(self, dist_sync_fn: Any = gather_all_tensors, process_group: Any = None) -> None:
        self.measured = self._gathered(self.measured, dist_sync_fn, process_group or self.process_group)

    def _gathered(self, states: list[Tensor], dist_sync_fn: Any, group: Any) -> list[Tensor]:
        """Every process sends one tensor, of whatever length, and merges those of all."""
        mine = _tensor(self._merged(states)).to(self.device)
        return [_tensor(self._merged(dist_sync_fn(mine, group=group)))]

    def _merged(self, states: list[Tensor]) -> E:
        merged = copy.copy(self._empty)
        for state in states:
            merged.merge(type(merged).from_bytes(_bytes(state)))
        return merged

    def _append(self, batch: E, names: list[str]) -> None:
        """Keep a measured batch, unless this process has measured one of its units before."""
        last = self.measured[-1] if self.measured else None
        if last is not self._names_until:
            # The state was reset, loaded, merged or moved.
            self._names = set(self._merged(self.measured).per_unit()["unit"])
        for name in names:
            if name in self._names:
                raise DuplicateError(
                    f"unit '{name}' occurs twice\n       at: names\n"
                    "     help: name samples by their place in the data set, not in the batch;\n"
                    "           call reset() between epochs"
                )
        self._names.update(names)
        self._names_until = _tensor(batch)
        # Metrics of one compute group share a list: a new one is this metric's own.
        self.measured = [*self.measured, self._names_until]

    def _values(self, evaluator: E) -> dict[str, Tensor]:
        report = evaluator.report()
        # Apple's devices have no double precision.
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        values: dict[str, Tensor] = {}

        def visit(path: str, value: Value) -> None:
            if isinstance(value, dict):
                for key, inner in value.items():
                    visit(f"{path}.{key}", inner)
            else:
                values[path] = torch.tensor(_nan(value), dtype=dtype, device=self.device)

        for id in self._ids:
            visit(f"{self._prefix}{id}", report.get(id))
        return values


class Segmentation(_EvaluatorMetric[segmentation.Evaluator]):
    """Measures batches of images.

    >>> score = Segmentation({"original": 2}, kind="logits", metrics=["pixel_accuracy"], prefix="val/")
    >>> score(torch.tensor([[[[2.0, 0.5]], [[1.0, 0.7]]]]), torch.tensor([[[0, 1]]]), names=["one"])
    {'val/pixel_accuracy': tensor(1., dtype=torch.float64)}
    """

    _headline = ("miou", "mean_f1", "pixel_accuracy", "biou")

    def __init__(
        self,
        labels: Mapping[str, Any],
        *,
        metrics: Sequence[str] | None = None,
        prefix: str | None = None,
        **options: Any,
    ) -> None:
        """Take the options of `calipers.segmentation.Evaluator` and those of `torchmetrics.Metric`.

        `metrics` are the ids that `compute` returns, `prefix` stands before them in place of `segmentation.`.
        Predictions are label maps unless `kind` says otherwise.
        """
        own, options = _split(options)
        if not options.get("heads"):
            options.setdefault("kind", "labels")
        super().__init__(segmentation.Evaluator(labels, **options), metrics, prefix, own)

    def update(
        self, preds: Tensor | Mapping[str, Tensor], target: Tensor, names: Names | None = None
    ) -> None:
        """Measure a batch of images, all of them or, on an error, none.

        `target` is [N, H, W]; `preds` has the same leading axis, as one tensor or one for each head by name.
        """
        texts = _texts(names, len(target))
        batch = copy.copy(self._empty)
        for arrays in preds.values() if isinstance(preds, Mapping) else [preds]:
            if len(arrays) != len(target):
                raise InputError(
                    "predictions and targets differ in number\n"
                    f"    found: {len(arrays)}\n  allowed: {len(target)}"
                )
        for i, name in enumerate(texts):
            pred = (
                {head: arrays[i] for head, arrays in preds.items()}
                if isinstance(preds, Mapping)
                else preds[i]
            )
            batch.update(name, truth=target[i], pred=pred)
        self._append(batch, texts)


class IndependentSet(_EvaluatorMetric[independent_set.Evaluator]):
    """Measures batches of graphs, packed as PyG packs them.

    >>> score = IndependentSet(metrics=["accuracy", "gap_ratio"])
    >>> edges = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    >>> logits, labels = torch.tensor([1.0, -1.0, 2.0, 3.0]), torch.tensor([1, 0, 1, 0])
    >>> score.update(logits, labels, edges, names=[0, 1], batch=torch.tensor([0, 0, 1, 1]))
    >>> score.compute()["independent_set.accuracy"]
    tensor(0.7500, dtype=torch.float64)
    """

    _headline = ("feasibility", "accuracy", "f1", "approx_ratio_postprocessed")

    def __init__(
        self,
        scores: Any = "logits",
        *,
        metrics: Sequence[str] | None = None,
        prefix: str | None = None,
        **options: Any,
    ) -> None:
        """Take the options of `calipers.independent_set.Evaluator` and those of `torchmetrics.Metric`.

        `metrics` are the ids that `compute` returns, `prefix` stands before them in place of
        `independent_set.`.
        """
        own, options = _split(options)
        super().__init__(independent_set.Evaluator(scores, **options), metrics, prefix, own)
        self._scores = scores

    def update(
        self,
        preds: Tensor | None,
        target: Tensor | None,
        edge_index: Tensor,
        names: Names | None = None,
        *,
        ptr: Tensor | None = None,
        batch: Tensor | None = None,
        optimum: Tensor | None = None,
    ) -> None:
        """Measure one graph, or the graphs that `ptr` or `batch` cut; all of them or, on an error, none.

        `preds` are the scores of the nodes and `target` their labels; either may be `None`. `optimum` has
        one number per graph, -1 where it is unknown.
        """
        if ptr is None and batch is None:
            nodes = preds if preds is not None else target
            if nodes is None:
                raise UsageError(
                    "how many nodes there are is not said\n  allowed: preds, target, ptr or batch"
                )
            ptr = torch.tensor([0, nodes.shape[-1]])
        graphs = None if ptr is None else len(ptr) - 1
        texts = _texts(names, graphs)
        measured = copy.copy(self._empty)
        measured.update_batch(
            texts, edge_index=edge_index, ptr=ptr, batch=batch, labels=target, optimum=optimum,
            **({} if preds is None else {str(self._scores): preds}),
        )  # fmt: skip
        self._append(measured, texts)


class Explanation(_EvaluatorMetric[explanation.Evaluator]):
    """Measures explanations, one with each update.

    >>> score = Explanation(scores="logits", metrics=["fid_plus_model"], prefix="test/")
    >>> y_hat, y_comp = torch.tensor([[2.0, 0.5]]), torch.tensor([[0.1, 0.3]])
    >>> score(names=["one"], y_hat=y_hat, y_comp=y_comp)
    {'test/fid_plus_model': tensor(1., dtype=torch.float64)}
    """

    _headline = ("fid_plus_model", "fid_minus_model", "characterization_score_model", "unfaithfulness")

    def __init__(
        self, *, metrics: Sequence[str] | None = None, prefix: str | None = None, **options: Any
    ) -> None:
        """Take the options of `calipers.explanation.Evaluator` and those of `torchmetrics.Metric`.

        `metrics` are the ids that `compute` returns, `prefix` stands before them in place of `explanation.`.
        """
        own, options = _split(options)
        super().__init__(explanation.Evaluator(**options), metrics, prefix, own)

    def update(self, names: Names | None = None, **arrays: Any) -> None:
        """Measure the one explanation that is named; the arrays are those of the evaluator's `update`."""
        texts = _texts(names, 1)
        batch = copy.copy(self._empty)
        batch.update(texts[0], **arrays)
        self._append(batch, texts)


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    own = {key: value for key, value in options.items() if key in _OF_TORCHMETRICS}
    return own, {key: value for key, value in options.items() if key not in own}


def _known(id: str, family: str) -> str:
    bare = id.removeprefix(f"{family}.")
    if f"{family}.{bare}" not in _calipers.metric_ids():
        raise UnknownMetricError(f"there is no metric of that id\n    found: {id}\n     help: calipers list")
    return bare


def _texts(names: Names | None, units: int | None) -> list[str]:
    if names is None or isinstance(names, str):
        raise UsageError(
            "every unit of a batch needs a name\n       at: names\n"
            f"    found: {names!r}\n  allowed: a list of texts, or of sample numbers\n"
            "     help: name samples by their place in the data set; numbers counted in each process would\n"
            "           let a repeated sample count twice, and two samples pass for one"
        )
    texts = [str(name.item() if isinstance(name, Tensor) else name) for name in names]
    if units is not None and len(texts) != units:
        raise InputError(f"names and units differ in number\n    found: {len(texts)}\n  allowed: {units}")
    return texts


def _tensor(evaluator: EvaluatorBase) -> Tensor:
    return torch.frombuffer(bytearray(evaluator.to_bytes()), dtype=torch.uint8)


def _bytes(state: Tensor) -> bytes:
    # A byte has survived any dtype that the metric was moved to.
    return bytes(state.detach().cpu().to(torch.uint8).numpy())


def _nan(value: Value) -> Any:
    if isinstance(value, list):
        return [_nan(inner) for inner in value]
    return float("nan") if value is None else float(value)

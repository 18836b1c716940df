"""A metric for each family."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from calipers import explanation, independent_set, robustness, segmentation, training
from calipers._errors import InputError, UsageError
from calipers._inputs.graphs import Graph, edges
from calipers.torchmetrics._base import EvaluatorMetric
from calipers.torchmetrics._options import Ids, Names, many, split, texts


class Segmentation(EvaluatorMetric[segmentation.Evaluator]):
    """Measures batches of images.

    >>> score = Segmentation({"original": 2}, kind="logits", metrics=["pixel_accuracy"], prefix="val/")
    >>> score(torch.tensor([[[[2.0, 0.5]], [[1.0, 0.7]]]]), torch.tensor([[[0, 1]]]), names=["one"])
    {'val/pixel_accuracy': tensor(1., dtype=torch.float64)}
    """

    _headline = ("miou", "mean_f1", "pixel_accuracy", "biou")

    def __init__(
        self,
        labels: segmentation.Classes | Mapping[str, Any],
        *,
        metrics: Ids = None,
        prefix: str | None = None,
        **options: Any,
    ) -> None:
        """Take the options of `calipers.segmentation.Evaluator` and those of `torchmetrics.Metric`.

        `metrics` are the ids that `compute` returns, `prefix` stands before them in place of `segmentation.`.
        Predictions are label maps unless `kind` says otherwise.
        """
        own, options = split(options, segmentation.Evaluator)
        if not options.get("heads"):
            options.setdefault("kind", "labels")
        super().__init__(segmentation.Evaluator(labels, **options), metrics, prefix, own)

    def update(
        self, preds: Tensor | Mapping[str, Tensor], target: Tensor, names: Names | None = None
    ) -> None:
        """Measure a batch of images, all of them or, on an error, none.

        `target` is [N, H, W]; `preds` has the same leading axis, as one tensor or one for each head by name.
        """
        named = texts(names, many("target", target))
        for arrays in preds.values() if isinstance(preds, Mapping) else [preds]:
            if many("preds", arrays) != len(target):
                raise InputError(
                    "there is a prediction for each target\n       at: preds\n"
                    f"    found: {len(arrays)}\n  allowed: {len(target)}, as target has"
                )
        batch = copy.copy(self._empty)
        batch.update_batch(named, truth=target, pred=preds)
        self._append(batch, named)


class IndependentSet(EvaluatorMetric[independent_set.Evaluator]):
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
        metrics: Ids = None,
        prefix: str | None = None,
        **options: Any,
    ) -> None:
        """Take the options of `calipers.independent_set.Evaluator` and those of `torchmetrics.Metric`.

        `metrics` are the ids that `compute` returns, `prefix` stands before them in place of
        `independent_set.`.
        """
        own, options = split(options, independent_set.Evaluator)
        super().__init__(independent_set.Evaluator(scores, **options), metrics, prefix, own)
        self._scores = scores

    def update(
        self,
        preds: Tensor | None,
        target: Tensor | None,
        edge_index: Graph,
        names: Names | None = None,
        *,
        ptr: Tensor | None = None,
        batch: Tensor | None = None,
        optimum: Tensor | None = None,
    ) -> None:
        """Measure one graph, or the graphs that `ptr` or `batch` cut; all of them or, on an error, none.

        `edge_index` may be any graph, such as a PyG `Batch`, which cuts itself. `preds` are the scores of
        the nodes and `target` their labels; either may be `None`. `optimum` has one number per graph, -1
        where it is unknown.
        """
        graph = edges(edge_index)
        if ptr is None and batch is None:
            ptr = graph.ptr
        if ptr is None and batch is None:
            nodes = preds if preds is not None else target
            if nodes is None and graph.num_nodes is None:
                raise UsageError(
                    "how many nodes there are is not said\n  allowed: preds, target, ptr, batch or a graph"
                )
            ptr = torch.tensor([0, graph.num_nodes if nodes is None else nodes.shape[-1]])
        graphs = None if ptr is None else len(ptr) - 1
        named = texts(names, graphs)
        measured = copy.copy(self._empty)
        measured.update_batch(
            named, edge_index=graph.edge_index, ptr=ptr, batch=batch, labels=target, optimum=optimum,
            **({} if preds is None else {str(self._scores): preds}),
        )  # fmt: skip
        self._append(measured, named)


class Explanation(EvaluatorMetric[explanation.Evaluator]):
    """Measures explanations, one with each update.

    >>> score = Explanation(scores="logits", metrics=["fid_plus_model"], prefix="test/")
    >>> y_hat, y_comp = torch.tensor([[2.0, 0.5]]), torch.tensor([[0.1, 0.3]])
    >>> score(names=["one"], y_hat=y_hat, y_comp=y_comp)
    {'test/fid_plus_model': tensor(1., dtype=torch.float64)}
    """

    _headline = ("fid_plus_model", "fid_minus_model", "characterization_score_model", "unfaithfulness")

    def __init__(self, *, metrics: Ids = None, prefix: str | None = None, **options: Any) -> None:
        """Take the options of `calipers.explanation.Evaluator` and those of `torchmetrics.Metric`.

        `metrics` are the ids that `compute` returns, `prefix` stands before them in place of `explanation.`.
        """
        own, options = split(options, explanation.Evaluator)
        super().__init__(explanation.Evaluator(**options), metrics, prefix, own)

    def update(self, names: Names | None = None, **arrays: Any) -> None:
        """Measure the one explanation that is named; the arrays are those of the evaluator's `update`."""
        named = texts(names, 1)
        batch = copy.copy(self._empty)
        batch.update(named[0], **arrays)
        self._append(batch, named)


class Robustness(EvaluatorMetric[robustness.Evaluator]):
    """Measures attacks on graph models, one run with each update.

    >>> score = Robustness(metrics="bias_total")
    >>> score(names=["split0"], clean=[[1.0], [2.0]], attacked={"0.05": [[1.0], [4.0]]})
    tensor(4., dtype=torch.float64)
    """

    _headline = ("bias_relative", "bias_total", "robust_accuracy", "accuracy_drop")

    def __init__(self, *, metrics: Ids = None, prefix: str | None = None, **options: Any) -> None:
        """Take the options of `calipers.robustness.Evaluator` and those of `torchmetrics.Metric`.

        `metrics` are the ids that `compute` returns, `prefix` stands before them in place of `robustness.`.
        """
        own, options = split(options, robustness.Evaluator)
        super().__init__(robustness.Evaluator(**options), metrics, prefix, own)

    def update(self, names: Names | None = None, **arrays: Any) -> None:
        """Measure the one run that is named; the arrays are those of the evaluator's `update`."""
        (run,) = texts(names, 1)
        batch = copy.copy(self._empty)
        batch.update(run, **arrays)
        self._append(batch, list(batch.per_unit()["unit"]))


class Training(EvaluatorMetric[training.Evaluator]):
    """Measures training runs, one curve each.

    >>> score = Training(metrics=["velocity_wise"], prefix="")
    >>> score.update([[0.5, 0.95, 0.93], [0.2, 0.92, 0.96]], names=["cfg/0", "cfg/1"])
    >>> score.compute()
    {'velocity_wise.cfg': tensor(2., dtype=torch.float64)}
    """

    _headline = ("velocity_wise", "stability_wise", "divergence_wise")

    def __init__(
        self, metric: str = "value", *, metrics: Ids = None, prefix: str | None = None, **options: Any
    ) -> None:
        """Take the options of `calipers.training.Evaluator` and those of `torchmetrics.Metric`.

        `metrics` are the ids that `compute` returns, `prefix` stands before them in place of `training.`.
        """
        own, options = split(options, training.Evaluator)
        super().__init__(training.Evaluator(metric, **options), metrics, prefix, own)

    def update(
        self,
        values: Tensor | Sequence[Any],
        names: Names | None = None,
        x: Tensor | Sequence[Any] | None = None,
    ) -> None:
        """Measure runs, named `<group>/<fold>`: a row of values for each, and a row of x if there is one."""
        named = texts(names, many("values", values))
        batch = copy.copy(self._empty)
        for i, name in enumerate(named):
            batch.update(name, values[i], None if x is None else x[i])
        self._append(batch, list(batch.per_unit()["unit"]))

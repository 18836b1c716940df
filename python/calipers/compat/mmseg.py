"""`IoUMetric` of mmsegmentation 1.2.2 on exact counts.

It is a `BaseMetric` where mmengine is installed, and registered as `CalipersIoUMetric` where mmseg is. It
works without either.

>>> import torch
>>> metric = IoUMetric()
>>> metric.dataset_meta = {"classes": ["road", "sky"]}
>>> maps = [{"pred_sem_seg": {"data": torch.tensor([[0, 1, 1]])},
...          "gt_sem_seg": {"data": torch.tensor([[0, 0, 255]])}}]
>>> metric.process({}, maps)
>>> {name: float(value) for name, value in metric.evaluate(size=1).items()}
{'aAcc': 50.0, 'mIoU': 25.0, 'mAcc': 50.0}
"""

from __future__ import annotations

import importlib.util
import os
from collections import OrderedDict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.compat._counting import Counts, array, pairs
from calipers.compat._exact import Exact, mean, ratio, ratios, single, singles
from calipers.compat._missing import named

__all__ = ["IoUMetric"]

__getattr__ = named(__name__, __all__)

if importlib.util.find_spec("mmengine") is not None:
    from mmengine.evaluator import BaseMetric
else:

    class BaseMetric:  # type: ignore[no-redef]
        """What `IoUMetric` needs of mmengine's class, for one process."""

        default_prefix: str | None = None

        def __init__(
            self,
            collect_device: str = "cpu",
            prefix: str | None = None,
            collect_dir: str | None = None,
        ) -> None:
            self.collect_device, self.collect_dir = collect_device, collect_dir
            self.prefix = prefix or self.default_prefix
            self.dataset_meta: dict[str, Any] | None = None
            self.results: list[Any] = []

        def evaluate(self, size: int) -> dict[str, Any]:
            """Return the metrics of what was processed, and forget it."""
            metrics = self.compute_metrics(self.results[:size])
            self.results.clear()
            if self.prefix:
                return {f"{self.prefix}/{name}": value for name, value in metrics.items()}
            return metrics

        def compute_metrics(self, results: list[Any]) -> dict[str, Any]:
            """Return the metrics of results."""
            raise NotImplementedError


Scores = dict[str, list[Exact]]


class IoUMetric(BaseMetric):
    """Intersection over union, Dice and F-score in percent, two decimals."""

    def __init__(
        self,
        ignore_index: int = 255,
        iou_metrics: list[str] | str = ["mIoU"],  # noqa: B006
        nan_to_num: int | None = None,
        beta: int = 1,
        collect_device: str = "cpu",
        output_dir: str | None = None,
        format_only: bool = False,
        prefix: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Take the arguments of the library; it ignores further ones."""
        super().__init__(collect_device=collect_device, prefix=prefix)
        self.ignore_index = ignore_index
        self.metrics = iou_metrics
        self.nan_to_num = nan_to_num
        self.beta = beta
        self.output_dir = output_dir
        self.format_only = format_only
        if output_dir:
            os.makedirs(output_dir, exist_ok=True)

    def process(self, data_batch: dict[str, Any], data_samples: Sequence[dict[str, Any]]) -> None:
        """Count the pixels of each sample, and write its prediction where that was asked for."""
        classes = len(self.dataset_meta["classes"])
        for sample in data_samples:
            pred = sample["pred_sem_seg"]["data"].squeeze()
            if not self.format_only:
                truth = sample["gt_sem_seg"]["data"].squeeze()
                self.results.append(_areas(pred, truth, classes, self.ignore_index))
            if self.output_dir is not None:
                self._write(sample, array(pred))

    def _write(self, sample: dict[str, Any], pred: npt.NDArray[Any]) -> None:
        from PIL import Image

        name = os.path.splitext(os.path.basename(sample["img_path"]))[0]
        # Files of a data set without label 0 count from 1.
        shifted = pred + 1 if sample.get("reduce_zero_label", False) else pred
        path = os.path.abspath(os.path.join(str(self.output_dir), f"{name}.png"))
        Image.fromarray(shifted.astype(np.uint8)).save(path)

    def compute_metrics(self, results: list[Any]) -> dict[str, Any]:
        """Return `aAcc` and the mean of each metric, and print the table of classes through mmengine."""
        if self.format_only:
            _say(f"results are saved to {os.path.dirname(str(self.output_dir))}")
            return OrderedDict()
        columns = zip(*results, strict=True)
        totals = [np.array([array(area) for area in column]).sum(0).astype(np.int64) for column in columns]
        scores = _scores(totals, self.metrics, self.nan_to_num, self.beta)
        found = {
            ("" if name == "aAcc" else "m") + name: _percent(mean(values)) for name, values in scores.items()
        }
        _say("per class results:")
        _say("\n" + _table(self.dataset_meta["classes"], scores))
        return found

    @staticmethod
    def intersect_and_union(
        pred_label: Any, label: Any, num_classes: int, ignore_index: int
    ) -> tuple[Any, ...]:
        """Return the pixels of each class in both maps, in either, in the prediction and in the truth."""
        import torch

        areas = _areas(pred_label, label, num_classes, ignore_index)
        return tuple(torch.from_numpy(area.astype(np.float32)) for area in areas)

    @staticmethod
    def total_area_to_metrics(
        total_area_intersect: Any,
        total_area_union: Any,
        total_area_pred_label: Any,
        total_area_label: Any,
        metrics: list[str] | str = ["mIoU"],  # noqa: B006
        nan_to_num: int | None = None,
        beta: int = 1,
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Return `aAcc` and the metrics by class, as shares in single precision."""
        areas = (total_area_intersect, total_area_union, total_area_pred_label, total_area_label)
        totals = [array(area).astype(np.int64) for area in areas]
        scores = _scores(totals, metrics, nan_to_num, beta)
        made = {name: singles(values) for name, values in scores.items()}
        made["aAcc"] = made["aAcc"].reshape(())
        return made if nan_to_num is None else OrderedDict(made)


def _areas(pred: Any, truth: Any, classes: int, ignore: int) -> tuple[Counts, ...]:
    """Count both maps as whole numbers; a true id that is no class is only part of the predicted areas."""
    pred, truth = array(pred), array(truth)
    if pred.shape != truth.shape:
        raise IndexError(f"the prediction has shape {pred.shape}, and the label {truth.shape}")
    if pred.dtype.kind == "f":
        pred = np.where(pred == np.floor(pred), pred, -1).astype(np.int64)
    if truth.dtype.kind == "f":
        truth = truth.astype(np.int64)
    counts = pairs(truth, pred, classes, ignore)[0]
    both = counts[:classes, :classes].diagonal().copy()
    of_pred, of_truth = counts[: classes + 1, :classes].sum(axis=0), counts[:classes].sum(axis=1)
    return both, of_pred + of_truth - both, of_pred, of_truth


def _scores(totals: list[Counts], metrics: list[str] | str, nan_to_num: float | None, beta: float) -> Scores:
    both, union, pred, truth = totals
    wanted = [metrics] if isinstance(metrics, str) else metrics
    if not set(wanted) <= {"mIoU", "mDice", "mFscore"}:
        raise KeyError(f"metrics {wanted} is not supported")
    scores: Scores = {"aAcc": [ratio(int(both.sum()), int(truth.sum()))]}
    for metric in wanted:
        if metric == "mIoU":
            scores.update(IoU=ratios(both, union), Acc=ratios(both, truth))
        elif metric == "mDice":
            scores.update(Dice=ratios(2 * both, pred + truth), Acc=ratios(both, truth))
        else:
            weight = Fraction(beta) ** 2
            fscore = [
                # Of two shares that are 0 there is no harmonic mean.
                (1 + weight) * int(i) / (weight * int(t) + int(p)) if i else None
                for i, p, t in zip(both, pred, truth, strict=True)
            ]
            scores.update(Fscore=fscore, Precision=ratios(both, pred), Recall=ratios(both, truth))
    if nan_to_num is None:
        return scores
    number = Fraction(nan_to_num)
    return {name: [number if value is None else value for value in values] for name, values in scores.items()}


def _percent(value: Exact) -> Any:
    """Return percent with two decimals; `round` takes the even of two that are equally near."""
    return single(None if value is None else Fraction(round(value * 10_000), 100))


def _table(classes: Sequence[str], scores: Scores) -> str:
    columns = {name: values for name, values in scores.items() if name != "aAcc"}
    width = max(len("Class"), *(len(name) for name in classes))
    lines = [" ".join(["Class".ljust(width), *(name.rjust(9) for name in columns)])]
    for place, name in enumerate(classes):
        cells = (f"{_percent(values[place]):9.2f}" for values in columns.values())
        lines.append(" ".join([name.ljust(width), *cells]))
    return "\n".join(lines)


def _say(text: str) -> None:
    if importlib.util.find_spec("mmengine") is not None:
        from mmengine.logging import MMLogger, print_log

        print_log(text, MMLogger.get_current_instance())


if importlib.util.find_spec("mmseg") is not None:
    try:
        from mmseg.registry import METRICS
    except ImportError:
        # Without mmcv, mmseg is there but cannot be imported.
        pass
    else:
        METRICS.register_module(name="CalipersIoUMetric", module=IoUMetric, force=True)

"""The drop-ins of `calipers.compat` against their libraries: one process, one thread, by turns."""

import functools
import importlib.metadata
import importlib.util
import sys
import time
import tracemalloc
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import monai.metrics
import numpy as np
import torch
import torchmetrics.classification
import torchmetrics.segmentation

from calipers import compat
from calipers.compat import evaluate, mmseg
from calipers.compat import monai as our_monai
from calipers.compat import torchmetrics as ours

CLASSES = 19
RNG = np.random.default_rng(0)


def maps(count: int, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return street-like maps: patches of classes, predictions that are mostly right."""
    rows, columns = -(-height // 32), -(-width // 32)
    truth = np.repeat(np.repeat(RNG.integers(0, CLASSES, (count, rows, columns)), 32, 1), 32, 2)
    truth = truth[:, :height, :width]
    wrong = RNG.random(truth.shape) < 0.1
    return truth, np.where(wrong, RNG.integers(0, CLASSES, truth.shape), truth)


def seconds(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the CPU time of each call, the best of several rounds by turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best


def line(job: str, goal: float, mine: Callable[[], Any], theirs: Callable[[], Any], rounds: int = 7) -> None:
    """Print one row of the table, with the most memory that NumPy and Python take on our side."""
    for call in (mine, theirs):
        call()
    best = seconds({"mine": mine, "theirs": theirs}, rounds)
    tracemalloc.start()
    mine()
    memory = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    ratio = best["theirs"] / best["mine"]
    met = "yes" if ratio >= goal else "no"
    print(
        f"| {job} | {best['mine'] * 1e3:,.2f} ms | {best['theirs'] * 1e3:,.2f} ms | {ratio:.1f} | {goal:g} "
        f"| {met} | {memory:.1f} MiB |",
        flush=True,
    )


def published_mmseg() -> Any:
    """Read the one file; importing all of mmseg needs mmcv, which has to be compiled."""
    from mmengine.registry import METRICS

    files = importlib.metadata.files("mmsegmentation") or []
    path = next(Path(str(file.locate())) for file in files if file.name == "iou_metric.py")
    for name in ("mmseg", "mmseg.registry"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["mmseg.registry"].METRICS = METRICS  # type: ignore[attr-defined]
    spec = importlib.util.spec_from_file_location("published_iou_metric", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("mmseg", "mmseg.registry"):
        del sys.modules[name]
    return module.IoUMetric


def published_mean_iou(pred: np.ndarray, truth: np.ndarray) -> Any:
    """Count as the script of the hub does for one image: histograms of three masked copies."""
    kept = truth != 255
    pred, truth = pred[kept], truth[kept]
    hit = pred[pred == truth]
    areas = [np.histogram(ids, bins=CLASSES, range=(0, CLASSES - 1))[0] for ids in (hit, pred, truth)]
    return areas[0] / (areas[1] + areas[2] - areas[0])


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    truth, pred = maps(1, 1024, 2048)
    target, preds = torch.from_numpy(truth), torch.from_numpy(pred)
    print("| job | calipers | library | ratio | goal | met | extra memory |\n|---|---|---|---|---|---|---|")
    for checked, goal in ((True, 10), (False, 3)):
        metrics = [
            kind(CLASSES, ignore_index=255, validate_args=checked)
            for kind in (ours.MulticlassJaccardIndex, torchmetrics.classification.MulticlassJaccardIndex)
        ]
        how = "with validation" if checked else "without validation"
        calls = [functools.partial(metric.update, preds, target) for metric in metrics]
        line(f"MulticlassJaccardIndex.update, 1024 x 2048, {how}", goal, *calls)
    truths, many = (torch.from_numpy(ids) for ids in maps(4, 512, 512))
    means = [
        kind(CLASSES, input_format="index")
        for kind in (ours.segmentation.MeanIoU, torchmetrics.segmentation.MeanIoU)
    ]
    line(
        "MeanIoU.update, 4 x 512 x 512, labels",
        50,
        lambda: means[0].update(many, truths),
        lambda: means[1].update(many, truths),
        3,
    )
    sample = [{"pred_sem_seg": {"data": preds}, "gt_sem_seg": {"data": target}}]
    areas = [mmseg.IoUMetric(), published_mmseg()()]
    for metric in areas:
        metric.dataset_meta = {"classes": [str(one) for one in range(CLASSES)]}

    def processed(metric: Any) -> None:
        metric.results = []
        metric.process({}, sample)

    line("mmseg IoUMetric.process, 1024 x 2048", 10, lambda: processed(areas[0]), lambda: processed(areas[1]))

    def added() -> None:
        metric = evaluate.load("mean_iou")
        metric.compute(predictions=[pred[0]], references=[truth[0]], num_labels=CLASSES, ignore_index=255)

    line("evaluate mean_iou, 1024 x 2048", 10, added, lambda: published_mean_iou(pred[0], truth[0]))
    masks = [torch.from_numpy((RNG.random((8, 5, 128, 128, 32)) < 0.3).astype(np.float32)) for _ in range(2)]
    line(
        "monai compute_iou, 8 x 5 x 128 x 128 x 32",
        1,
        lambda: our_monai.compute_iou(*masks),
        lambda: monai.metrics.compute_iou(*masks),
        3,
    )
    print(f"\n{len(compat.differences())} deliberate differences: calipers.compat.differences()")


if __name__ == "__main__":
    main()

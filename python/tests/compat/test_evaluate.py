"""The drop-in for `evaluate`'s mean IoU against its published formula, written out with NumPy.

Peer: evaluate: segmentation overlap.
"""

import time
from typing import Any

import numpy as np
import pytest
from compat_cases import cases, maps, near

from calipers.compat import evaluate

KEYS = ["mean_iou", "mean_accuracy", "overall_accuracy", "per_category_iou", "per_category_accuracy"]


def oracle(
    preds: Any, truths: Any, classes: int, ignore: int, label_map: Any, reduce: bool
) -> dict[str, Any]:
    """Histograms of each pair, added up, as the metric's card defines them."""
    areas = np.zeros((3, classes))
    for pred, truth in zip(preds, truths, strict=True):
        pred, truth = np.array(pred), np.array(truth)
        for old, new in (label_map or {}).items():
            truth[truth == old] = new
        if reduce:
            truth[truth == 0] = 255
            truth = truth - 1
            truth[truth == 254] = 255
        counted = truth != ignore
        pred, truth = pred[counted], truth[counted]
        for row, ids in enumerate((pred[pred == truth], pred, truth)):
            areas[row] += np.histogram(ids, bins=classes, range=(0, classes - 1))[0]
    both, of_pred, of_truth = areas
    with np.errstate(all="ignore"):
        iou, accuracy = both / (of_pred + of_truth - both), both / of_truth
        overall = both.sum() / of_truth.sum()
    return dict(zip(KEYS, (np.nanmean(iou), np.nanmean(accuracy), overall, iou, accuracy), strict=True))


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_results_agree_with_the_published_formula() -> None:
    for rng in cases(1):
        classes, ignore = int(rng.integers(2, 9)), int(rng.choice([255, 0]))
        pairs = [maps(rng, classes, tuple(rng.integers(1, 9, 2)), ignore) for _ in range(rng.integers(1, 5))]
        truths, preds = ([pair[i] for pair in pairs] for i in (0, 1))
        if rng.random() < 0.3:
            preds[0][0, 0] = classes + 300
        label_map = [None, {0: 1}, {0: 1, 1: 2}, {1: 255}][rng.integers(4)]
        reduce = bool(rng.integers(2))
        kinds = [np.uint8, np.int32, np.uint16] if max(map(np.max, preds)) < 256 else [np.int64]
        if not rng.integers(2):
            preds = [pred.astype(kinds[rng.integers(len(kinds))]) for pred in preds]
        expected = oracle(preds, truths, classes, ignore, label_map, reduce)
        nan_to_num = [None, 0][rng.integers(2)]
        if nan_to_num is not None:
            expected = {name: np.nan_to_num(value, nan=nan_to_num) for name, value in expected.items()}
        kept = [truth.copy() for truth in truths]
        options = {"num_labels": classes, "ignore_index": ignore, "nan_to_num": nan_to_num}
        options.update(label_map=label_map, reduce_labels=reduce)
        metric = evaluate.load("mean_iou")
        for pred, truth in zip(preds[1:], truths[1:], strict=True):
            metric.add(prediction=pred, reference=truth)
        found = [
            evaluate.mean_iou(preds, truths, **options),
            metric.compute(predictions=preds[:1], references=truths[:1], **options),
        ]
        assert all(np.array_equal(a, b) for a, b in zip(kept, truths, strict=True)), (
            "inputs are not written to"
        )
        for each in found:
            assert list(each) == KEYS
            for name in KEYS:
                assert type(each[name]) is type(np.asarray(expected[name])[()])
                assert near(each[name], expected[name]), name


def test_a_metric_starts_again_after_it_was_computed() -> None:
    metric = evaluate.load("mean_iou")
    options = {"num_labels": 2, "ignore_index": 255}
    metric.add_batch(predictions=[[[0, 1]], [[1, 1]]], references=[[[0, 0]], [[1, 1]]])
    first = metric.compute(**options)
    assert first["overall_accuracy"] == 0.75
    assert metric.compute(predictions=[[[0]]], references=[[[0]]], **options)["overall_accuracy"] == 1.0
    assert len(repr(metric)) <= 100


def test_pairs_that_do_not_fit_are_named() -> None:
    metric = evaluate.load("mean_iou")
    metric.add(prediction=[[0]], reference=[[0]])
    with pytest.raises(
        ValueError, match=r"pair 2: the prediction has shape \(1, 1\), the reference \(1, 2\)"
    ):
        metric.add_batch(predictions=[[[0]], [[0]]], references=[[[0]], [[0, 1]]])
    with pytest.raises(ValueError, match="2 predictions and 1 references"):
        metric.add_batch(predictions=[[[0]], [[0]]], references=[[[0]]])
    assert metric.compute(num_labels=1, ignore_index=255)["overall_accuracy"] == 1.0
    with pytest.raises(ValueError, match="mean_iou"):
        evaluate.load("accuracy")
    with pytest.raises(AttributeError, match="it has load, mean_iou"):
        evaluate.combine  # noqa: B018


def test_a_large_image_is_measured_at_once() -> None:
    truth = np.random.default_rng(0).integers(0, 19, size=(1024, 2048), dtype=np.uint8)
    start = time.perf_counter()
    evaluate.mean_iou([truth], [truth], 19, 255)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    oracle([truth], [truth], 19, 255, None, False)
    assert ours < time.perf_counter() - start

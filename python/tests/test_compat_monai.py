"""Drop-ins for MONAI against MONAI itself."""

from typing import Any

import numpy as np
import pytest
from compat_cases import cases, near

torch: Any = pytest.importorskip("torch")
published: Any = pytest.importorskip("monai.metrics")
from calipers.compat import monai as ours  # noqa: E402

pytestmark = [pytest.mark.compat, pytest.mark.filterwarnings("ignore")]
REDUCTIONS = ["none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel"]


def given(rng: np.random.Generator, classes: int) -> tuple[Any, Any]:
    shape = (int(rng.integers(1, 4)), classes, *rng.integers(1, 7, rng.integers(1, 4)).tolist())
    masks = [torch.from_numpy(rng.random(shape) < rng.random()) for _ in range(2)]
    dtype = [torch.float32, torch.float64, torch.uint8, torch.int64, torch.bool][rng.integers(5)]
    return masks[0].to(dtype), masks[1].to(dtype)


def hot(rng: np.random.Generator, classes: int) -> tuple[Any, Any]:
    shape = (int(rng.integers(1, 4)), *rng.integers(1, 7, 2).tolist())
    ids = [torch.from_numpy(rng.integers(0, classes, shape)) for _ in range(2)]
    pred, truth = (torch.nn.functional.one_hot(each, classes).movedim(-1, 1).float() for each in ids)
    return pred, truth


def agree(found: Any, expected: Any) -> bool:
    return found.dtype == expected.dtype and near(found.numpy(), expected.numpy())


def test_iou_agrees() -> None:
    for rng in cases(1, share=2):
        classes = int(rng.integers(1, 6))
        pred, truth = given(rng, classes) if rng.random() < 0.6 else hot(rng, classes)
        ignore = [None, None, 0, classes - 1, 255, -1][rng.integers(6)]
        if ignore is not None:
            pred, truth = pred.float(), truth.float()
        options = {
            "include_background": bool(rng.integers(2)),
            "ignore_empty": bool(rng.integers(2)),
            "ignore_index": ignore,
        }
        found, expected = (
            ours.compute_iou(pred, truth, **options),
            published.compute_iou(pred, truth, **options),
        )
        assert agree(found, expected), (found, expected, options)
        reduction = REDUCTIONS[rng.integers(len(REDUCTIONS))]
        metrics = [of.MeanIoU(reduction=reduction, get_not_nans=True, **options) for of in (ours, published)]
        for metric in metrics:
            metric(y_pred=pred, y=truth)
            metric(y_pred=list(pred), y=list(truth))
        for a, b in zip(*(metric.aggregate() for metric in metrics), strict=True):
            assert agree(a, b), (a, b)
        assert torch.equal(metrics[0].get_buffer().isnan(), metrics[1].get_buffer().isnan())


def test_dice_agrees() -> None:
    for rng in cases(2, share=2):
        classes = int(rng.integers(2, 6))
        options: dict[str, Any] = {
            "include_background": bool(rng.integers(2)),
            "ignore_empty": bool(rng.integers(2)),
        }
        if rng.random() < 0.5:
            pred, truth = hot(rng, classes)
        else:
            shape = (int(rng.integers(1, 4)), 1, *rng.integers(1, 7, 2).tolist())
            pred, truth = (torch.from_numpy(rng.integers(0, classes, shape)) for _ in range(2))
            options["num_classes"] = classes
            options["ignore_index"] = [None, 0, 255][rng.integers(3)]
        found, expected = (
            ours.compute_dice(pred, truth, **options),
            published.compute_dice(pred, truth, **options),
        )
        assert agree(found, expected), (found, expected, options)
        named = [False, True, [f"organ {i}" for i in range(classes)]][rng.integers(3)]
        reduction = "mean_batch" if named else REDUCTIONS[rng.integers(len(REDUCTIONS))]
        results = []
        for of in (ours, published):
            metric = of.DiceMetric(reduction=reduction, return_with_label=named, **options)
            metric(pred, truth)
            metric(pred, truth)
            results.append(metric.aggregate())
        if named:
            assert list(results[0]) == list(results[1])
            a, b = ([each[name] for name in each] for each in results)
            assert np.allclose(a, b, atol=1.01e-4, rtol=0, equal_nan=True)
        else:
            assert agree(*results), results


def test_half_precision_counts_exactly() -> None:
    pred = torch.ones(1, 1, 300, 300, dtype=torch.float16)
    truth = pred.clone()
    truth[..., 0, :100] = 0
    assert not torch.isfinite(published.compute_iou(pred, truth)).all()
    found = ours.compute_iou(pred, truth)
    assert found.dtype == torch.float32
    assert found.item() == np.float32(89_900 / 90_000)
    assert ours.compute_iou(pred.bfloat16(), truth.bfloat16()).item() == found.item()


def test_what_is_not_there_says_so_and_wrong_shapes_raise_the_librarys_errors() -> None:
    mask = torch.ones(1, 2, 3, 3)
    for call in (
        lambda: ours.compute_dice(mask, mask, per_component=True),
        lambda: ours.DiceMetric(per_component=True),
    ):
        with pytest.raises(NotImplementedError):
            call()
    for of in (ours, published):
        with pytest.raises(ValueError, match="same shapes"):
            of.compute_iou(mask, mask[:, :1])
        with pytest.raises(ValueError, match="at least 3 dimensions"):
            of.MeanIoU()(mask[0, 0], mask[0, 0])
    assert isinstance(ours.DiceMetric(), published.DiceMetric)
    with pytest.raises(AttributeError, match="it has DiceMetric"):
        ours.GeneralizedDiceScore  # noqa: B018

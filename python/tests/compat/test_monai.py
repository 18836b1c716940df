"""Drop-ins for MONAI against MONAI itself.

Peer: MONAI: segmentation overlap, surface.
"""

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


def masks(rng: np.random.Generator) -> tuple[Any, Any]:
    axes = rng.integers(2, 9, rng.integers(2, 4)).tolist()
    shape = (int(rng.integers(1, 3)), int(rng.integers(1, 4)), *axes)
    share = rng.choice([0.0, 0.05, 0.3, 0.9, 1.0])
    return torch.from_numpy(rng.random(shape) < share), torch.from_numpy(rng.random(shape) < rng.random())


def close(found: Any, expected: Any, ranked: int = 0) -> bool:
    same = torch.equal(found.isnan(), expected.isnan()) and torch.equal(found.isinf(), expected.isinf())
    kept = found.isfinite()
    # The library interpolates in single precision: its error is in proportion to the largest distance, and
    # that of a percentile to the rank, which is rounded too.
    largest = float(expected[kept].abs().max()) if kept.any() else 0.0
    gap = (4e-7 + 6e-8 * ranked) * max(largest, 1.0)
    return same and torch.allclose(found[kept], expected[kept], rtol=1e-6, atol=gap)


def test_surface_distances_agree() -> None:
    for rng in cases(6, share=4):
        pred, truth = masks(rng)
        axes = pred.ndim - 2
        spacing = [None, 1.5, rng.uniform(0.3, 3, axes).tolist()][rng.integers(3)]
        options = {"include_background": True, "spacing": spacing}
        more = {**options, "percentile": [None, 95, 50][rng.integers(3)], "directed": bool(rng.integers(2))}
        found, expected = (of.compute_hausdorff_distance(pred, truth, **more) for of in (ours, published))
        ranked = 0 if more["percentile"] is None else pred[0, 0].numel()
        assert close(found, expected, ranked), (found, expected, more)
        more = {**options, "symmetric": bool(rng.integers(2))}
        found, expected = (
            of.compute_average_surface_distance(pred, truth, **more) for of in (ours, published)
        )
        assert close(found, expected), (found, expected, more)
        limits = rng.uniform(0, 4, pred.shape[1]).tolist()
        found, expected = (
            of.compute_surface_dice(pred, truth, limits, **options) for of in (ours, published)
        )
        assert close(found, expected), (found, expected, limits)


def test_metrics_of_surfaces_aggregate_alike() -> None:
    for rng in cases(7, share=8):
        pred, truth = masks(rng)
        made = [
            [of.HausdorffDistanceMetric(include_background=True, percentile=95, get_not_nans=True),
             of.SurfaceDistanceMetric(include_background=True, symmetric=True, get_not_nans=True),
             of.SurfaceDiceMetric([1.0] * pred.shape[1], include_background=True, get_not_nans=True)]
            for of in (ours, published)
        ]  # fmt: skip
        for mine, theirs in zip(*made, strict=True):
            for metric in (mine, theirs):
                metric(y_pred=pred, y=truth, spacing=2.0)
            for found, expected in zip(mine.aggregate(), theirs.aggregate(), strict=True):
                assert close(found, expected), (found, expected)


def test_what_the_library_alone_has_says_so() -> None:
    pred = torch.zeros(1, 1, 4, 4)
    with pytest.raises(NotImplementedError, match="taxicab"):
        ours.compute_hausdorff_distance(pred, pred, distance_metric="taxicab")
    with pytest.raises(NotImplementedError, match="use_subvoxels"):
        ours.compute_surface_dice(pred, pred, [1.0], use_subvoxels=True)

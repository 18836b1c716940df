"""Drop-ins for torchmetrics against torchmetrics itself.

Peer: torchmetrics: segmentation overlap, pixels, calibration.
"""

import functools
import pickle
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
from compat_cases import cases, maps, near

torch: Any = pytest.importorskip("torch")
published: Any = pytest.importorskip("torchmetrics")
from calipers.compat import torchmetrics as ours  # noqa: E402
from calipers.compat._exact import quotients, single, single_root  # noqa: E402

pytestmark = pytest.mark.compat
AVERAGES = ["micro", "macro", "weighted", "none", None]


def told(call: Any) -> tuple[Any, Any]:
    """Return a result, or the type and text of the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(), None
    except Exception as error:
        return None, (type(error), str(error))


def same(mine: Any, theirs: Any, batches: list[Any]) -> Any:
    """Update both with the same batches and compare every batch's value and the whole's."""
    for batch in batches:
        (found, wrong), (expected, right) = (told(functools.partial(each, *batch)) for each in (mine, theirs))
        assert wrong == right
        if right is None:
            assert found.dtype == expected.dtype
            assert near(found, expected), (found, expected)
    (found, wrong), (expected, right) = told(mine.compute), told(theirs.compute)
    assert wrong == right
    if right is None:
        assert near(found, expected, len(batches)), (found, expected)
    return expected


def batches(rng: np.random.Generator, classes: int, ignore: int | None, axes: int | None = None) -> list[Any]:
    made = []
    for _ in range(rng.integers(1, 4)):
        axes_here = int(rng.integers(1, 4)) if axes is None else axes
        shape = tuple(int(rng.integers(1, 7)) for _ in range(axes_here))
        truth, pred = maps(rng, classes, shape, ignore)
        target = torch.from_numpy(truth)
        if rng.random() < 0.4:
            scores = rng.normal(size=(shape[0], classes, *shape[1:]))
            dtype = [torch.float16, torch.bfloat16, torch.float32, torch.float64][rng.integers(4)]
            preds = torch.from_numpy(scores).to(dtype)
            preds = preds.softmax(1) if rng.random() < 0.5 else preds
        else:
            preds = torch.from_numpy(pred).to([torch.int64, torch.int32, torch.uint8][rng.integers(3)])
        made.append((preds, target))
    return made


def pick(rng: np.random.Generator, values: list[Any]) -> Any:
    return values[rng.integers(len(values))]


def test_confusion_and_jaccard_agree() -> None:
    for rng in cases(1, share=3):
        classes = int(rng.integers(2, 8))
        ignore = pick(rng, [None, 255, -100, 0, classes - 1])
        given = batches(rng, classes, ignore)
        options = {"num_classes": classes, "ignore_index": ignore, "validate_args": bool(rng.integers(2))}
        normalize = pick(rng, ["true", "pred", "all", "none", None])
        same(
            ours.MulticlassConfusionMatrix(normalize=normalize, **options),
            published.classification.MulticlassConfusionMatrix(normalize=normalize, **options),
            given,
        )
        average, zero = pick(rng, AVERAGES), pick(rng, [0, 1, 0.0])
        mine = ours.MulticlassJaccardIndex(average=average, zero_division=zero, **options)
        theirs = published.classification.MulticlassJaccardIndex(
            average=average, zero_division=zero, **options
        )
        same(mine, theirs, given)
        assert torch.equal(mine.confmat, theirs.confmat)


def test_binary_jaccard_agrees() -> None:
    for rng in cases(2, share=8):
        ignore = pick(rng, [None, -1, 255])
        given = []
        for _ in range(2):
            truth, pred = maps(rng, 2, (int(rng.integers(1, 9)),), ignore)
            scores = pick(
                rng, [torch.from_numpy(rng.random(len(pred))), torch.from_numpy(rng.normal(size=len(pred)))]
            )
            given.append((pick(rng, [torch.from_numpy(pred), scores]), torch.from_numpy(truth)))
        options = {"threshold": float(rng.random()), "ignore_index": ignore}
        same(
            ours.BinaryJaccardIndex(**options), published.classification.BinaryJaccardIndex(**options), given
        )


@pytest.mark.parametrize("name", ["Accuracy", "Precision", "Recall", "F1Score"])
def test_scores_agree(name: str) -> None:
    for rng in cases(3, share=8):
        classes = int(rng.integers(2, 7))
        ignore = pick(rng, [None, 255, -1, 0])
        samplewise = rng.random() < 0.4
        options = {
            "num_classes": classes,
            "average": pick(rng, AVERAGES),
            "multidim_average": "samplewise" if samplewise else "global",
            "ignore_index": ignore,
            "validate_args": bool(rng.integers(2)),
            **({"zero_division": pick(rng, [0, 1])} if name == "F1Score" else {}),
        }
        given = batches(rng, classes, ignore, 3 if samplewise else None)
        mine = getattr(ours, f"Multiclass{name}")(**options)
        theirs = getattr(published.classification, f"Multiclass{name}")(**options)
        same(mine, theirs, given)
        for state in ("tp", "fp", "tn", "fn"):
            a, b = getattr(mine, state), getattr(theirs, state)
            assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True)), state


def test_calibration_agrees_where_no_confidence_is_one() -> None:
    for rng in cases(4, share=3):
        classes = int(rng.integers(2, 7))
        ignore = pick(rng, [None, 255])
        options = {
            "num_classes": classes,
            "n_bins": int(rng.integers(1, 20)),
            "norm": pick(rng, ["l1", "l2", "max"]),
            "ignore_index": ignore,
        }
        given = []
        for _ in range(int(rng.integers(1, 4))):
            truth, _ = maps(rng, classes, (int(rng.integers(1, 60)),), ignore)
            logits = torch.from_numpy(rng.normal(size=(len(truth), classes)).astype(np.float32))
            given.append((pick(rng, [logits, logits.softmax(1)]), torch.from_numpy(truth)))
        mine = ours.MulticlassCalibrationError(**options)
        theirs = published.classification.MulticlassCalibrationError(**options)
        for batch in given:
            mine.update(*batch), theirs.update(*batch)
        found, expected = mine.compute(), theirs.compute()
        assert found.dtype == expected.dtype
        # The library subtracts two rounded means: what is left has the ulp of the means.
        # Without a sample that counts, neither has a mean.
        assert torch.isnan(found) == torch.isnan(expected)
        gap = abs(float(found.nan_to_num()) - float(expected.nan_to_num()))
        assert gap <= 64 * np.spacing(np.float32(1)), (found, expected)


def test_means_over_samples_agree() -> None:
    for rng in cases(5, share=3):
        classes = int(rng.integers(1, 6))
        form = pick(rng, ["one-hot", "index", "mixed"])
        background = bool(rng.integers(2)) or classes == 1
        given = []
        for _ in range(int(rng.integers(1, 4))):
            shape = (int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(1, 6)))
            truth, pred = (torch.from_numpy(ids) for ids in maps(rng, classes, shape, None))
            hot = [torch.nn.functional.one_hot(ids, classes).movedim(-1, 1) for ids in (pred, truth)]
            scores = torch.from_numpy(rng.normal(size=hot[0].shape))
            kind = pick(rng, [torch.int64, torch.uint8, torch.bool, torch.int32])
            given.append(
                {
                    "index": (pred, truth),
                    "mixed": pick(rng, [(hot[0], truth), (pred, hot[1]), (scores, truth)]),
                    "one-hot": pick(
                        rng, [(hot[0].to(kind), hot[1].to(kind)), (scores, hot[1]), (scores, hot[1].double())]
                    ),
                }[form]
            )
        options = {"include_background": background, "input_format": form}
        counted = {"num_classes": pick(rng, [classes, classes, None]) if form != "index" else classes}
        per_class = bool(rng.integers(2))
        same(
            ours.segmentation.MeanIoU(per_class=per_class, **counted, **options),
            published.segmentation.MeanIoU(per_class=per_class, **counted, **options),
            given,
        )
        options.update(average=pick(rng, AVERAGES), aggregation_level=pick(rng, ["samplewise", "global"]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = ours.segmentation.DiceScore(classes, **options)
            theirs = published.segmentation.DiceScore(classes, **options)
        same(mine, theirs, given)


def test_wrong_inputs_raise_what_the_library_raises() -> None:
    good = torch.tensor([0, 1, 2])
    wrong: list[Any] = [
        (good[:2], good),
        (good.float()[:, None], good),
        (torch.zeros(3, 4), good),
        (torch.zeros(3, 3, 2), good),
        (torch.zeros(3, 3, dtype=torch.int64), good),
        (torch.arange(9), torch.arange(9)),
    ]
    for preds, target in wrong:
        for name in ("MulticlassJaccardIndex", "MulticlassConfusionMatrix", "MulticlassPrecision"):
            mine, theirs = getattr(ours, name)(3), getattr(published.classification, name)(3)
            assert told(lambda: mine.update(preds, target)) == told(lambda: theirs.update(preds, target))  # noqa: B023
    for make in (lambda of: of.MulticlassJaccardIndex(1), lambda of: of.MulticlassAccuracy(3, average="all")):
        assert told(lambda: make(ours)) == told(lambda: make(published.classification))  # noqa: B023


@pytest.mark.parametrize("options", [{}, {"validate_args": False}])
def test_an_id_that_is_no_class_is_named_with_its_place(options: Any) -> None:
    preds, target = torch.tensor([[0, 1], [1, 7]]), torch.tensor([[0, 1], [1, 0]])
    for name in ("MulticlassJaccardIndex", "MulticlassConfusionMatrix", "MulticlassRecall"):
        metric = getattr(ours, name)(3, **options)
        with pytest.raises(ValueError, match=r"`preds` holds 7 at \[1, 1\], which is none of the 3 classes"):
            metric.update(preds, target)
        with pytest.raises(ValueError, match=r"`target` holds 7 at \[1, 1\]"):
            metric.update(target, preds)
    # What is predicted where truth is ignored does not matter.
    ours.MulticlassJaccardIndex(3, ignore_index=0, **options).update(preds, target)


def test_a_count_above_the_range_of_single_precision_is_not_rounded() -> None:
    mine = ours.MulticlassJaccardIndex(2, average="none")
    mine.update(torch.tensor([0]), torch.tensor([0]))
    mine.confmat = torch.tensor([[2**24 + 1, 0], [2**24 + 3, 2**24 + 1]])
    exact = [np.float32((2**24 + 1) / (2**25 + 4))] * 2
    assert mine.compute().tolist() == pytest.approx(exact, rel=0, abs=0)


def test_a_confidence_of_one_is_in_the_last_bin() -> None:
    scores, target = (
        torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.97, 0.03], [0.95, 0.05]]),
        torch.tensor([0, 1, 0, 0]),
    )
    found = ours.MulticlassCalibrationError(2, n_bins=10)(scores, target)
    assert found.item() == pytest.approx(abs(3.92 / 4 - 3 / 4))
    assert published.classification.MulticlassCalibrationError(2, n_bins=10)(scores, target) > found
    with pytest.raises(ValueError, match="NaN"):
        ours.MulticlassCalibrationError(2)(torch.tensor([[float("nan"), 0.0]]), torch.tensor([0]))


def test_states_are_metrics_that_collect_pickle_move_and_sum() -> None:
    rng = np.random.default_rng(0)
    (_, target), *_ = batches(rng, 3, None, 2)
    metrics = {
        "iou": ours.MulticlassJaccardIndex(3),
        "confusion": ours.MulticlassConfusionMatrix(3),
        "accuracy": ours.MulticlassAccuracy(3),
        "f1": ours.MulticlassF1Score(3),
        "error": ours.MulticlassCalibrationError(3),
    }
    scores = torch.from_numpy(rng.normal(size=(*target.shape[:1], 3, *target.shape[1:])))
    together = published.MetricCollection(metrics, prefix="val/")
    together.update(scores, target)
    together.update(scores, target)
    assert sorted(map(sorted, together.compute_groups.values())) == [
        ["accuracy", "f1"], ["confusion", "iou"], ["error"],
    ]  # fmt: skip
    for name, value in together.compute().items():
        metric = together[name]
        assert isinstance(metric, published.Metric)
        again = pickle.loads(pickle.dumps(metric))
        assert torch.equal(again.compute(), value)
        assert torch.equal(metric.clone().to(torch.float64).compute(), value)
        metric.reset()
        metric.update(scores, target)
        again = metric.clone()
        metric.merge_state(again)
        assert torch.equal(metric.compute(), value), "sums of the states of two processes"
    with pytest.raises(NotImplementedError):
        ours.MulticlassAccuracy(3, top_k=2)
    with pytest.raises(NotImplementedError):
        ours.JaccardIndex(task="multilabel", num_labels=3)
    assert isinstance(ours.JaccardIndex(task="binary"), published.classification.BinaryJaccardIndex)
    with pytest.raises(AttributeError, match="it has BinaryJaccardIndex"):
        ours.MultilabelAccuracy  # noqa: B018


def test_updates_take_no_memory_that_grows_with_the_image() -> None:
    target = torch.randint(0, 19, (1, 1024, 2048))
    made = [
        ours.MulticlassJaccardIndex(19, validate_args=True),
        ours.segmentation.MeanIoU(19, input_format="index"),
    ]
    for metric in made:
        metric.update(target, target)
        tracemalloc.start()
        metric.update(target, target)
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
        tracemalloc.stop()


def test_quotients_and_roots_are_rounded_once() -> None:
    from decimal import Decimal, localcontext
    from fractions import Fraction

    rng = np.random.default_rng(3)
    parts, wholes = rng.integers(1, 2**40, 2000), rng.integers(1, 2**40, 2000)
    # Quotients that lie so near to the middle of two singles that a double falls onto it.
    parts[:500] = (2 * rng.integers(2**23, 2**24, 500) + 1) * 2**28 + rng.integers(-1, 2, 500)
    wholes[:500] = 2**52
    for part, whole, found in zip(parts.tolist(), wholes.tolist(), quotients(parts, wholes), strict=True):
        exact = Fraction(part, whole)
        around = [np.nextafter(found, np.float32(side)) for side in (-np.inf, np.inf)]
        assert all(abs(exact - Fraction(float(found))) <= abs(exact - Fraction(float(a))) for a in around)
        assert found == single(exact)
        with localcontext() as context:
            context.prec = 60
            root = (Decimal(part) / Decimal(whole)).sqrt()
        near_root = single_root(exact)
        around = [np.nextafter(near_root, np.float32(side)) for side in (-np.inf, np.inf)]
        gap = abs(root - Decimal(float(near_root)))
        assert all(gap <= abs(root - Decimal(float(a))) for a in around)

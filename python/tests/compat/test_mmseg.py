"""The drop-in for mmsegmentation against the metric's own file from the wheel.

Peer: mmsegmentation: segmentation overlap.
"""

import importlib.metadata
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compat_cases import cases, maps, near

torch: Any = pytest.importorskip("torch")
from calipers.compat.mmseg import IoUMetric  # noqa: E402

pytestmark = pytest.mark.compat


@pytest.fixture(scope="module")
def published() -> Any:
    """Read the one file; importing all of mmseg needs mmcv, which has to be compiled."""
    pytest.importorskip("mmengine")
    try:
        files = importlib.metadata.files("mmsegmentation") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("mmsegmentation is not installed")
    path = next(Path(str(file.locate())) for file in files if file.name == "iou_metric.py")
    from mmengine.registry import METRICS

    before = {name: sys.modules.get(name) for name in ("mmseg", "mmseg.registry")}
    for name in before:
        sys.modules[name] = types.ModuleType(name)
    sys.modules["mmseg.registry"].METRICS = METRICS  # type: ignore[attr-defined]
    try:
        spec = importlib.util.spec_from_file_location("published_iou_metric", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        for name, known in before.items():
            if known is None:
                del sys.modules[name]
            else:
                sys.modules[name] = known
    return module.IoUMetric


def sample(pred: Any, truth: Any) -> dict[str, Any]:
    return {"pred_sem_seg": {"data": pred[None]}, "gt_sem_seg": {"data": truth[None]}}


def given(rng: np.random.Generator, classes: int, ignore: int) -> list[Any]:
    made = []
    for _ in range(int(rng.integers(1, 5))):
        shape = (int(rng.integers(2, 9)), int(rng.integers(2, 9)))
        truth, pred = maps(rng, classes, shape, ignore)
        if rng.random() < 0.3:
            pred[rng.integers(shape[0]), rng.integers(shape[1])] = classes + rng.integers(3)
        if rng.random() < 0.2:
            truth[rng.integers(shape[0]), rng.integers(shape[1])] = classes + rng.integers(3)
        made.append(sample(torch.from_numpy(pred), torch.from_numpy(truth)))
    return made


@pytest.mark.filterwarnings("ignore")
def test_results_agree_in_value_and_type(published: Any) -> None:
    for rng in cases(1):
        classes, ignore = int(rng.integers(2, 9)), int(rng.choice([255, 0]))
        wanted = [["mIoU"], ["mDice"], ["mFscore"], ["mIoU", "mDice", "mFscore"], "mIoU"]
        options = {
            "ignore_index": ignore,
            "iou_metrics": wanted[rng.integers(5)],
            "nan_to_num": [None, 0, 1][rng.integers(3)],
            "beta": int(rng.integers(1, 3)),
            "prefix": [None, "val"][rng.integers(2)],
        }
        samples = given(rng, classes, ignore)
        found = []
        for make in (IoUMetric, published):
            metric = make(**options)
            metric.dataset_meta = {"classes": [f"class {i}" for i in range(classes)]}
            metric.process({}, samples)
            found.append(metric.evaluate(len(samples)))
        mine, theirs = found
        assert list(mine) == list(theirs)
        for name in mine:
            assert type(mine[name]) is type(theirs[name]) is np.float32
            # Two decimals are equal but where the mean lies between two of them.
            assert mine[name] == theirs[name] or np.isnan([mine[name], theirs[name]]).all() or (
                abs(mine[name] - theirs[name]) < 0.0101
                and is_between_two_decimals(samples, classes, options, name)
            ), (name, mine, theirs)  # fmt: skip


def is_between_two_decimals(samples: Any, classes: int, options: Any, name: str) -> bool:
    """Return whether the exact percentage lies within single precision of the middle of two decimals."""
    areas = [
        IoUMetric.intersect_and_union(
            each["pred_sem_seg"]["data"], each["gt_sem_seg"]["data"], classes, options["ignore_index"]
        )
        for each in samples
    ]
    totals = [sum(column) for column in zip(*areas, strict=True)]
    by_class = IoUMetric.total_area_to_metrics(
        *totals, options["iou_metrics"], options["nan_to_num"], options["beta"]
    )
    key = name.rpartition("/")[2]
    values = by_class[key if key == "aAcc" else key[1:]].astype(np.float64)
    percent = np.nanmean(values) * 10_000
    return bool(abs(percent - np.floor(percent) - 0.5) < 0.01)


@pytest.mark.filterwarnings("ignore")
def test_the_static_functions_agree(published: Any) -> None:
    for rng in cases(2, share=5):
        classes = int(rng.integers(2, 7))
        truth, pred = (torch.from_numpy(ids) for ids in maps(rng, classes, (5, 6), 255))
        mine = IoUMetric.intersect_and_union(pred, truth, classes, 255)
        theirs = published.intersect_and_union(pred, truth, classes, 255)
        assert len(mine) == len(theirs) == 4
        for a, b in zip(mine, theirs, strict=True):
            assert a.dtype == b.dtype
            assert torch.equal(a, b)
        names = ["mIoU", "mDice", "mFscore"]
        a = IoUMetric.total_area_to_metrics(*mine, names, [None, 0][rng.integers(2)], 1)
        b = published.total_area_to_metrics(*mine, names, None, 1)
        assert list(a) == list(b)
        for name in a:
            assert isinstance(b[name], np.ndarray)
            assert near(np.nan_to_num(a[name]), np.nan_to_num(b[name])), name
    with pytest.raises(KeyError, match="is not supported"):
        IoUMetric.total_area_to_metrics(*mine, ["mAP"])


def metric(classes: int = 2, **options: Any) -> Any:
    made = IoUMetric(**options)
    made.dataset_meta = {"classes": [f"class {i}" for i in range(classes)]}
    return made


def test_more_pixels_than_single_precision_counts_are_not_lost() -> None:
    made = metric()
    many, one = np.array([2**24, 5]), np.array([1, 0])
    made.results = [
        (many, many, many, many),
        *[(one, one, one, one)] * 3,
        (0 * one, one * 4, one * 4, 0 * one),
    ]
    whole, lost = 2**24 + 3, 2**24 + 7
    assert made.evaluate(5)["mIoU"] == np.float32(np.round((whole / lost + 1) / 2 * 100, 2))
    truth = torch.zeros(1, 2**24 + 3, dtype=torch.uint8)
    made.process({}, [sample(truth, truth)])
    assert made.results[0][0].tolist() == [2**24 + 3, 0]


def test_labels_are_compared_as_whole_numbers() -> None:
    pred = torch.tensor([[0, 1, 1, 0]], dtype=torch.uint8)
    truth = torch.tensor([[0, -1, 256, 1]])
    both, union, of_pred, of_truth = IoUMetric.intersect_and_union(pred, truth, 2, 255)
    assert [area.tolist() for area in (both, of_pred, of_truth)] == [[1.0, 0.0], [2.0, 2.0], [1.0, 1.0]]
    assert union.tolist() == [2.0, 3.0]


def test_predictions_are_written_where_that_is_asked_for(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    made = metric(output_dir=str(tmp_path / "out"), format_only=True)
    shown = {**sample(torch.tensor([[0, 1], [1, 0]]), torch.tensor([[0, 1], [1, 0]])), "img_path": "a/b.jpg"}
    made.process({}, [shown, {**shown, "img_path": "c.jpg", "reduce_zero_label": True}])
    assert np.asarray(image.open(tmp_path / "out/b.png")).tolist() == [[0, 1], [1, 0]]
    assert np.asarray(image.open(tmp_path / "out/c.png")).tolist() == [[1, 2], [2, 1]]
    assert made.evaluate(2) == {}


@pytest.mark.filterwarnings("ignore")
def test_the_metric_works_without_mmengine_and_mmseg() -> None:
    import subprocess

    code = (
        "import importlib.util as u, torch; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name in ('mmengine', 'mmseg') else real(name, *a)\n"
        "import calipers.compat.mmseg as m; metric = m.IoUMetric(prefix='val')\n"
        "metric.dataset_meta = {'classes': ['road', 'sky']}\n"
        "pred, truth = torch.tensor([[0, 1, 1]]), torch.tensor([[0, 0, 255]])\n"
        "metric.process({}, [{'pred_sem_seg': {'data': pred}, 'gt_sem_seg': {'data': truth}}])\n"
        "print({name: float(value) for name, value in metric.evaluate(1).items()}, metric.results)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "{'val/aAcc': 50.0, 'val/mIoU': 25.0, 'val/mAcc': 50.0} []\n"

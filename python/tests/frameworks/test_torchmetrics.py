"""The life cycle of a torchmetrics metric, in one process."""

import io
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import calipers as cp

torch: Any = pytest.importorskip("torch")
torchmetrics: Any = pytest.importorskip("torchmetrics")
from calipers.torchmetrics import Explanation, IndependentSet, Robustness, Segmentation, Training  # noqa: E402

pytestmark = pytest.mark.compat

LABELS = {"original": 3, "ignore": [255]}
NAMES = [f"image {i}" for i in range(6)]
RNG = np.random.default_rng(0)
TRUTH = torch.from_numpy(RNG.choice([0, 1, 2, 255], size=(6, 5, 7)))
SCORES = torch.from_numpy(RNG.normal(size=(6, 3, 5, 7)))
IDS = ["miou", "segmentation.iou", "nll", "reliability_accuracy"]


def metric(**options: Any) -> Any:
    return Segmentation(LABELS, kind="logits", **{"metrics": IDS, **options})


def batch(*places: int) -> tuple[Any, ...]:
    chosen = list(places)
    return SCORES[chosen], TRUTH[chosen], [NAMES[i] for i in chosen]


def filled(**options: Any) -> Any:
    made = metric(**options)
    made.update(*batch(0, 1, 2))
    made.update(*batch(3))
    return made


def evaluator(*places: int) -> cp.segmentation.Evaluator:
    made = cp.segmentation.Evaluator(LABELS, kind="logits")
    for i in places:
        made.update(NAMES[i], truth=TRUTH[i], pred=SCORES[i])
    return made


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Bit for bit; NaN is NaN."""
    return found.keys() == expected.keys() and all(
        found[id].cpu().numpy().tobytes() == value.cpu().numpy().tobytes() for id, value in expected.items()
    )


def test_values_are_those_of_the_report() -> None:
    made = filled()
    report = evaluator(0, 1, 2, 3).report()
    assert made.report().to_json() == report.to_json()
    values = made.compute()
    assert values["segmentation.miou"].item() == report["miou"]
    assert {id for id in values if "iou." in id} == {f"segmentation.iou.{i}" for i in range(3)}
    series = [np.nan if value is None else value for value in report["reliability_accuracy"]]
    np.testing.assert_array_equal(values["segmentation.reliability_accuracy"].numpy(), series)
    assert all(value.dtype == torch.float64 for value in values.values())


def test_what_is_undefined_is_nan() -> None:
    made = Segmentation({"original": ["road", "sky"]}, metrics=["iou", "nll"], prefix="val/")
    made.update(torch.zeros(1, 2, 2, dtype=torch.int64), torch.zeros(1, 2, 2, dtype=torch.int64), [7])
    values = made.compute()
    assert list(values) == ["val/iou.road", "val/iou.sky", "val/nll"]
    assert [value.isnan().item() for value in values.values()] == [False, True, True]
    assert made.report().undefined["segmentation.iou.sky"] == "class occurs in neither truth nor prediction"


def test_forward_gives_the_batch_and_keeps_the_whole() -> None:
    made = metric()
    for places in ((0, 1, 2), (3,)):
        alone = metric()
        alone.update(*batch(*places))
        assert same(made(*batch(*places)), alone.compute())
    assert same(made.compute(), filled().compute())
    assert made.update_count == 2


def test_a_reset_metric_measures_the_same_units_again() -> None:
    made = filled()
    before = made.compute()
    made.reset()
    assert made.report().units == 0
    made.update(*batch(0, 1, 2, 3))
    assert same(made.compute(), before)


@pytest.mark.parametrize(
    "twin_of", [lambda made: made.clone(), lambda made: pickle.loads(pickle.dumps(made))]
)
def test_twins_are_equal_and_independent(twin_of: Any) -> None:
    made = filled()
    twin = twin_of(made)
    assert same(twin.compute(), made.compute())
    twin.update(*batch(4))
    assert (twin.report().units, made.report().units) == (5, 4)
    with pytest.raises(cp.DuplicateError, match="image 0"):
        twin.update(*batch(0))


def test_a_checkpoint_holds_the_state_when_asked_to() -> None:
    made = filled()
    assert not made.state_dict()
    made.persistent(True)
    file = io.BytesIO()
    torch.save(made.state_dict(), file)
    file.seek(0)
    loaded = metric()
    loaded.load_state_dict(torch.load(file, weights_only=True))
    assert loaded.report() == made.report()
    with pytest.raises(cp.DuplicateError, match="image 3"):
        loaded.update(*batch(3))
    other = metric(preset="document")
    other.load_state_dict(made.state_dict())
    with pytest.raises(cp.ProtocolMismatchError, match="preset"):
        other.report()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_moves_to_another_type_change_no_bit(name: str) -> None:
    dtype = getattr(torch, name)
    expected = filled().compute()
    for moved in (filled().set_dtype(dtype), filled().to(dtype), filled().half(), filled().double()):
        assert same(moved.compute(), expected)
    moved = metric().set_dtype(dtype)
    moved.update(*batch(0, 1, 2))
    moved.set_dtype(dtype).update(*batch(3))
    assert same(moved.compute(), expected)


def test_values_lie_where_the_metric_lies() -> None:
    assert metric().to("meta").device.type == "meta"
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    for device in devices:
        made = filled().to(device)
        made.update(*(part.to(device) if hasattr(part, "to") else part for part in batch(4)))
        assert {value.device.type for value in made.compute().values()} == {device}
        assert made.report() == evaluator(0, 1, 2, 3, 4).report()


def test_collections_measure_once_for_equal_settings_only() -> None:
    together = torchmetrics.MetricCollection(
        {
            "first": metric(metrics=["miou"]),
            "second": metric(metrics=["nll"]),
            "strict": metric(metrics=["pixel_accuracy"], preset="document", prefix="document/"),
            "jaccard": torchmetrics.classification.MulticlassJaccardIndex(3, ignore_index=255),
        },
        prefix="val/",
    )
    for places in ((0, 1, 2), (3,), (4, 5)):
        preds, target, names = batch(*places)
        together.update(preds=preds, target=target, names=names)
    values = together.compute()
    report = evaluator(*range(6)).report()
    assert values["val/segmentation.miou"].item() == report["miou"]
    assert values["val/segmentation.nll"].item() == report["nll"]
    assert values["val/jaccard"].item() == pytest.approx(report["miou"], abs=1e-6)
    assert "val/document/pixel_accuracy" in values
    assert sorted(sorted(group) for group in together.compute_groups.values()) == [
        ["first", "second"],
        ["jaccard"],
        ["strict"],
    ]
    together.reset()
    assert same(together(*batch(0)[:2], names=["x"]), together.clone().compute())


def test_states_of_other_metrics_merge_by_name() -> None:
    made, other = filled(), metric()
    other.update(*batch(3, 4))
    made.merge_state(other)
    assert made.report() == evaluator(0, 1, 2, 3, 4).report()


def test_graphs_come_packed_or_one_by_one() -> None:
    edges = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
    logits, labels = torch.tensor([0.3, -1.2, 0.8, 2.0, -0.4]), torch.tensor([1, 0, 1, 0, 1])
    expected = cp.independent_set.Evaluator()
    expected.update_batch(["0", "1"], edge_index=edges, ptr=[0, 3, 5], logits=logits, labels=labels)
    cuts: list[dict[str, Any]] = [
        {"ptr": torch.tensor([0, 3, 5])},
        {"batch": torch.tensor([0, 0, 0, 1, 1])},
    ]
    for cut in cuts:
        packed = IndependentSet()
        packed.update(logits, labels, edges, names=torch.tensor([0, 1]), **cut)
        assert packed.report() == expected.report()
    single = IndependentSet(metrics=["accuracy"])
    single.update(logits[:3], labels[:3], edges[:, :4], names=[0])
    assert single(logits[3:], labels[3:], edges[:, 4:] - 3, names=[torch.tensor(1)])[
        "independent_set.accuracy"
    ].item() == pytest.approx(0.0)
    assert single.report() == expected.report()
    with pytest.raises(cp.UsageError, match="how many nodes"):
        IndependentSet(None).update(None, None, edges, names=["a"])


def test_explanations_come_one_by_one() -> None:
    arrays = {
        "y_hat": torch.tensor([[2.0, 0.5], [0.1, 0.9]]),
        "y_sub": torch.tensor([[1.0, 0.7], [3.0, 0.2]]),
    }
    made = Explanation(scores="logits")
    expected = cp.explanation.Evaluator(scores="logits")
    for name in ("a", "b"):
        made.update(names=[name], **arrays)
        expected.update(name, **arrays)
    assert made.report() == expected.report()
    values = made.compute()
    assert values["explanation.fid_minus_model"].item() == expected.report()["fid_minus_model"]
    assert values["explanation.fid_plus_model"].isnan()
    with pytest.raises(cp.InputError, match="names and units differ"):
        made.update(names=["c", "d"], **arrays)


def test_units_without_names_are_refused_with_the_reason() -> None:
    for names in (None, "image 0"):
        with pytest.raises(cp.UsageError, match="repeated sample count twice"):
            metric().update(SCORES[:1], TRUTH[:1], names)
    with pytest.raises(cp.InputError, match="names and units differ"):
        metric().update(SCORES, TRUTH, NAMES[:2])
    with pytest.raises(cp.InputError, match="a prediction for each target"):
        metric().update(SCORES[:2], TRUTH[:1], NAMES[:1])


def test_numbers_counted_in_the_batch_are_caught_at_the_second_batch() -> None:
    made = metric()
    made.update(SCORES[:2], TRUTH[:2], range(2))
    with pytest.raises(cp.DuplicateError, match="not in the batch"):
        made.update(SCORES[2:4], TRUTH[2:4], range(2))
    assert made.report().units == 2


def test_a_failing_batch_leaves_nothing_behind() -> None:
    made = filled()
    before = made.report()
    bad = SCORES[4:].clone()
    bad[1] = float("nan")
    with pytest.raises(cp.InputError):
        made.update(bad, TRUTH[4:], NAMES[4:])
    assert made.report() == before


def test_wrong_ids_and_options_are_told_at_once() -> None:
    with pytest.raises(cp.UnknownMetricError, match="miuo"):
        metric(metrics=["miuo"])
    with pytest.raises(cp.UnknownMetricError, match="help: did you mean miou"):
        metric(metrics="miuo")
    with pytest.raises(TypeError, match=r"found: boundry\n +help: did you mean boundary") as told:
        metric(boundry=3)
    assert isinstance(told.value, cp.UsageError)
    assert metric(sync_on_compute=False).sync_on_compute is False


def test_the_rest_of_the_package_does_not_need_torchmetrics() -> None:
    code = (
        "import sys; sys.modules['torchmetrics'] = None; import calipers\n"
        "try:\n    import calipers.torchmetrics\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'calipers[torchmetrics]'" in done.stdout


def test_one_id_gives_one_number() -> None:
    made = metric(metrics="miou")
    batch_value = made(*batch(0, 1))
    assert (batch_value.shape, batch_value.dtype) == ((), torch.float64)
    assert batch_value.item() == evaluator(0, 1).report()["miou"]
    made.update(*batch(2))
    assert made.compute().item() == evaluator(0, 1, 2).report()["miou"]
    by_class = metric(metrics="iou.1")
    by_class.update(*batch(0, 1))
    assert by_class.compute().item() == evaluator(0, 1).report()["iou"]["1"]
    with pytest.raises(cp.UsageError, match="not one number"):
        metric(metrics="iou")(*batch(0))


def test_one_number_of_many_shares_the_state() -> None:
    made = metric(metrics=["miou", "iou"], prefix="val/")
    number = made["iou.2"]
    assert isinstance(number, torchmetrics.Metric)
    assert any(part is number for part in made.modules()), "Lightning looks for it among the parts"
    assert made["miou"] is made["segmentation.miou"]
    made.update(*batch(0, 1))
    assert number.compute().item() == evaluator(0, 1).report()["iou"]["2"]
    number.update(*batch(2))
    assert made["pixel_accuracy"].compute().item() == evaluator(0, 1, 2).report()["pixel_accuracy"]
    assert number(*batch(3)).item() == evaluator(3).report()["iou"]["2"] == number._forward_cache.item()
    assert list(made.keys()) == ["val/miou", "val/iou.0", "val/iou.1", "val/iou.2"]
    assert {name: value.compute().item() for name, value in made.items()} == {
        name: value.item() for name, value in made.compute().items()
    }
    twin = pickle.loads(pickle.dumps(made))
    twin["miou"].reset()
    assert (made.report().units, twin.report().units, len(list(twin.values()))) == (4, 0, 4)
    with pytest.raises(cp.UnknownMetricError):
        made["iou.sky"].compute()
    assert max(len(repr(each)) for each in (made, number)) <= 100
    assert "\n" not in repr(made)


def test_numbers_are_read_again_after_every_change() -> None:
    made = metric(metrics=["miou"])
    made.update(*batch(0))
    first = made["miou"].compute()
    made.update(*batch(1))
    assert made["miou"].compute() != first
    made.reset()
    made.update(*batch(0))
    assert made["miou"].compute() == first


def test_memory_holds_the_rows_and_the_protocol_once() -> None:
    labels = {"original": [f"class {i}" for i in range(1000)], "ignore": [255]}
    made = Segmentation(labels, metrics=["miou"])
    constant = len(pickle.dumps(made))
    truth = torch.from_numpy(RNG.integers(0, 20, size=(1, 2, 2)))
    for i in range(300):
        made.update(truth, truth, [i])
    state = len(made.evaluator().to_bytes())
    assert len(pickle.dumps(made)) - constant < 0.5 * (state - len(made._empty.to_bytes())) + 20_000
    assert len(pickle.dumps(made)) < 1.5 * state + 2**20
    assert len(made.measured) <= 10, "batches are put together"


@pytest.mark.filterwarnings("ignore")
def test_graphs_come_from_a_pyg_batch() -> None:
    data = pytest.importorskip("torch_geometric.data")
    path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graphs = [data.Data(edge_index=path, num_nodes=3) for _ in range(2)]
    logits, labels = torch.tensor([0.3, -1.2, 0.8, 2.0, -0.4, 1.0]), torch.tensor([1, 0, 1, 0, 1, 0])
    made = IndependentSet(metrics="accuracy")
    made.update(logits, labels, data.Batch.from_data_list(graphs), names=["a", "b"])
    expected = cp.independent_set.Evaluator()
    expected.update("a", edge_index=path, logits=logits[:3], labels=labels[:3])
    expected.update("b", edge_index=path, logits=logits[3:], labels=labels[3:])
    assert made.report() == expected.report()


def test_robustness_and_training_are_metrics_too() -> None:
    runs = {"split0": [[1.0], [4.0]], "split1": [[0.0], [5.0]]}
    attacks, expected = Robustness(), cp.robustness.Evaluator()
    for name, attacked in runs.items():
        attacks.update(names=[name], clean=[[1.0], [2.0]], attacked={"0.1": attacked})
        expected.update(name, clean=[[1.0], [2.0]], attacked={"0.1": attacked})
    assert attacks.report() == expected.report()
    assert attacks.compute()["robustness.bias_total"].item() == expected.report()["bias_total"]
    with pytest.raises(cp.DuplicateError):
        attacks.update(names=["split0"], clean=[[1.0]], attacked={"0.1": [[2.0]]})
    curves = torch.tensor([[0.5, 0.95, 0.93], [0.2, 0.92, 0.96]])
    training = Training("val_F1", metrics=["velocity_wise"])
    training.update(curves, names=["cfg/0", "cfg/1"])
    runs_of = cp.training.Evaluator("val_F1")
    for name, curve in zip(("cfg/0", "cfg/1"), curves, strict=True):
        runs_of.update(name, curve)
    assert training.report() == runs_of.report()
    assert list(training.keys()) == ["training.velocity_wise.cfg"]


def test_values_are_drawn_by_torchmetrics_own_plot() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    made = filled(metrics=["miou", "pixel_accuracy"])
    figure, axes = made.plot()
    assert axes.figure is figure
    pyplot.close(figure)

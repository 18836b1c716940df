"""Reports: what the command line writes, as a mapping."""

import pickle
from pathlib import Path

import pytest

import calipers as cp
from calipers._calipers import metric_ids
from calipers._metric_ids import MetricId


def report() -> cp.Report:
    acc = cp.segmentation.Evaluator(labels={"original": ["road", "<sky>", "car"], "ignore": [255]})
    acc.update("one", truth=[[0, 1], [1, 255]], pred=[[0, 1], [0, 0]])
    return acc.report()


def test_ids_are_found_with_and_without_their_prefix() -> None:
    made = report()
    assert made["segmentation.miou"] == made["miou"] == 0.5
    assert made["iou"] == {"road": 0.5, "<sky>": 0.5, "car": None}
    assert made.undefined["segmentation.iou.car"] == "class occurs in neither truth nor prediction"
    assert made["nll"] is None
    assert "miou" in made
    assert made.get("nonsense") is None
    with pytest.raises(cp.UnknownMetricError, match="nonsense"):
        made["nonsense"]
    assert next(iter(made)).startswith("segmentation.")
    assert (made.units, made.protocol["name"], made.version) == (1, "segmentation", cp.__version__)
    assert made.warnings[0].keys() == {"code", "message", "units"}


def test_the_json_is_that_of_the_command_line(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    acc = cp.independent_set.Evaluator("probs")
    acc.update("path", edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], probs=[0.75, 0.875, 0.625], labels=[1, 0, 1])
    state = tmp_path / "path.state"
    state.write_bytes(acc.to_bytes())
    from calipers._calipers import run_cli

    assert run_cli(["calipers", "show", str(state), "--json", "-", "--quiet"]) == 0
    assert capfdbinary.readouterr().out == acc.report().to_json().encode()
    assert run_cli(["calipers", "show", str(state), "--json", "-", "--quiet", "--bootstrap", "20"]) == 0
    assert capfdbinary.readouterr().out == acc.report(bootstrap=20).to_json().encode()


def test_reports_travel_as_json_and_as_pickles() -> None:
    made = report()
    assert cp.Report.from_json(made.to_json()) == made
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(cp.CalipersError):
        cp.Report.from_json("{}")


def test_every_form_names_the_metrics_and_escapes_what_must_be() -> None:
    made = report()
    for text in (repr(made), made.to_markdown(), made.to_latex(), made.to_csv()):
        assert "miou" in text.replace("\\", "")
    page = made._repr_html_()
    assert "&lt;sky&gt;" in page
    assert "<sky>" not in page


def test_frames_have_a_row_for_every_number() -> None:
    made = report()
    pytest.importorskip("pandas")
    frame = made.to_pandas().set_index("id")
    assert frame.loc["segmentation.miou", "value"] == 0.5
    assert frame["value"].isna().sum() >= len(made.undefined)
    pytest.importorskip("polars")
    assert made.to_polars().height == len(frame)


def test_intervals_are_there_when_asked_for() -> None:
    acc = cp.segmentation.Evaluator(labels={"original": 2})
    for i in range(8):
        acc.update(str(i), truth=[[0, 1]], pred=[[0, i % 2]])
    low, high = acc.report(bootstrap=200)._parsed["intervals"]["segmentation.pixel_accuracy"]
    assert low < acc.report()["pixel_accuracy"] < high
    assert acc.report().intervals == {}
    with pytest.raises(cp.UsageError, match="confidence"):
        acc.report(bootstrap=9, confidence=2.0)


def test_the_generated_ids_are_those_of_the_registry() -> None:
    from typing import get_args

    assert sorted(get_args(MetricId)) == sorted(metric_ids())

"""Reports: what the command line writes, as a mapping."""

import pathlib
import pickle
from pathlib import Path

import numpy as np
import pytest

import calipers as cp
from calipers._calipers import metric_ids
from calipers._report.metric_ids import MetricId


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
    assert "miou" in page
    assert "<sky>" not in page
    assert "<script" not in page


def test_frames_have_a_row_for_every_number() -> None:
    made = report()
    pytest.importorskip("pandas")
    frame = made.to_pandas().set_index("id")
    assert frame.loc["segmentation.miou", "value"] == 0.5
    assert frame["value"].isna().sum() >= len(made.undefined)
    pytest.importorskip("polars")
    assert made.to_polars().height == len(frame)


def test_the_table_of_classes_has_a_row_for_each() -> None:
    made = report()
    table = made.per_class(frame="dict")
    assert table["class"] == list(made["iou"])
    assert table["iou"] == list(made["iou"].values())
    assert table["truth_pixels"] == list(made["truth_pixels"].values())
    pandas = made.per_class().set_index("class")
    assert pandas["iou"].isna().sum() == sum(value is None for value in made["iou"].values())
    assert made.per_class(frame="polars")["iou"].null_count() == pandas["iou"].isna().sum()
    runs = cp.training.Evaluator()
    runs.update("a/0", [0.95])
    assert runs.report().per_class(frame="dict")["group"] == ["a"]
    attack = cp.robustness.Evaluator()
    attack.update("r", clean=[[1.0]], attacked={0.1: [[2.0]], 0.2: [[4.0]]})
    conditions = attack.report().per_class(frame="dict")
    assert conditions["condition"] == ["0.1", "0.2"]
    assert conditions["bias_total"] == [1.0, 9.0]
    with pytest.raises(cp.UsageError, match="independent_set"):
        cp.independent_set.Evaluator().report().per_class()
    with pytest.raises(cp.UsageError, match="frame"):
        made.per_class(frame="csv")  # type: ignore[call-overload]


def test_a_report_keeps_the_units_it_was_read_from() -> None:
    acc = cp.segmentation.Evaluator(2)
    acc.update("a", truth=[[0, 1]], pred=[[0, 0]])
    made = acc.report()
    acc.update("b", truth=[[0, 1]], pred=[[0, 1]])
    assert made.per_unit(frame="dict")["unit"] == ["a"]
    assert acc.report().per_unit()["unit"].tolist() == ["a", "b"]
    assert made.per_unit(frame="polars").height == made.units == 1
    with pytest.raises(cp.UsageError, match="read from JSON"):
        cp.Report.from_json(made.to_json()).per_unit()


def test_arrays_have_the_shape_of_their_metric() -> None:
    made = report()
    matrix = made.array("confusion")
    assert matrix.dtype == np.int64
    assert matrix.shape == (len(made["iou"]), len(made["iou"]) + 1)
    assert matrix.ravel().tolist() == made["confusion"]
    iou = made.array("iou")
    assert np.isnan(iou).sum() == sum(value is None for value in made["iou"].values())
    assert made.array("miou").shape == ()
    assert np.isnan(made.array("biou")) == (made["biou"] is None)


def test_selected_metrics_are_written_in_their_order(tmp_path: pathlib.Path) -> None:
    made = report()
    few = cp.Report.from_json(made.to_json(select=["pixel_accuracy", "miou"]))
    assert list(few) == ["segmentation.pixel_accuracy", "segmentation.miou"]
    csv = made.to_csv(select=["pixel_accuracy", "miou"]).splitlines()
    assert [line.split(",")[0] for line in csv[1:]] == list(few)
    assert "iou.road" not in made.to_latex(select=["miou"])
    assert made.to_markdown(tmp_path / "r.md", select=["miou"]) is None
    assert (tmp_path / "r.md").read_text() == made.to_markdown(select=["miou"])
    for form in (made.to_json, made.to_csv, made.to_markdown, made.to_latex, made.to_html):
        with pytest.raises(cp.UnknownMetricError, match=r"mioo(.|\n)*miou"):
            form(select=["mioo"])
    with pytest.raises(cp.UnknownMetricError, match=r"mioo(.|\n)*miou"):
        made["mioo"]


def test_the_page_is_that_of_the_command(tmp_path: pathlib.Path) -> None:
    from calipers._calipers import run_cli

    acc = cp.segmentation.Evaluator(2)
    acc.update("a", truth=[[0, 1]], pred=[[0, 0]])
    (tmp_path / "a.state").write_bytes(acc.to_bytes())
    page = str(tmp_path / "a.html")
    assert run_cli(["calipers", "show", str(tmp_path / "a.state"), "--html", page, "--quiet"]) == 0
    assert acc.report().to_html() == (tmp_path / "a.html").read_text()
    acc.report().to_html(tmp_path / "b.html")
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()


def test_the_first_numbers_are_few_and_without_the_family() -> None:
    made = report()
    assert 0 < len(made.headline) <= 12
    assert made.headline["miou"] == made["miou"]
    with_intervals = cp.segmentation.Evaluator(2)
    for unit in range(5):
        with_intervals.update(str(unit), truth=[[0, 1]], pred=[[0, unit % 2]])
    assert "[" in with_intervals.report(bootstrap=50)._repr_html_()


def test_every_form_is_that_of_the_command(
    tmp_path: pathlib.Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    from calipers._calipers import run_cli

    acc = cp.segmentation.Evaluator(["road", "sky"])
    for unit in range(4):
        acc.update(str(unit), truth=[[0, 1]], pred=[[0, unit % 2]])
    state = str(tmp_path / "a.state")
    (tmp_path / "a.state").write_bytes(acc.to_bytes())
    made = acc.report()
    picks = ["iou", "Pixel-Accuracy"]
    for words, text in (
        (["--markdown"], made.to_markdown()),
        (["--latex"], made.to_latex()),
        (["--markdown", "--all"], made.to_markdown(all=True)),
        (["--latex", "--all"], made.to_latex(all=True)),
        (["--markdown", "--select", "iou,pixel_accuracy"], made.to_markdown(select=picks)),
        (["--csv", "-", "--select", "iou,pixel_accuracy"], made.to_csv(select=picks)),
        (["--json", "-", "--select", "iou,pixel_accuracy"], made.to_json(select=picks)),
    ):
        assert run_cli(["calipers", "show", state, *words, "--quiet"]) == 0
        assert capfdbinary.readouterr().out == text.encode()
    assert len(made.to_latex(all=True)) > len(made.to_latex())
    page = str(tmp_path / "a.html")
    words = ["--html", page, "--quiet", "--select", "iou,pixel_accuracy"]
    assert run_cli(["calipers", "show", state, *words]) == 0
    assert made.to_html(select=picks) == (tmp_path / "a.html").read_text()


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

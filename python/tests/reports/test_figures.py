"""Figures: the bytes of the command line, and matplotlib artists that carry the numbers of the report."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers as cp


def curves() -> Any:
    runs = cp.training.Evaluator(metric="val", label="val")
    runs.update("a/0", [0.5, 0.95, 0.9])
    runs.update("a/1", [0.4, 0.8, 0.92])
    return runs


def segmented() -> cp.Report:
    acc = cp.segmentation.Evaluator(["road", "sky"])
    acc.update("one", truth=[[0, 1], [1, 1]], pred=[[0, 0], [1, 1]])
    return acc.report()


@pytest.mark.parametrize("format", ["svg", "png", "pdf"])
def test_a_figure_has_the_bytes_of_the_command_line(tmp_path: Path, format: Any) -> None:
    acc = cp.segmentation.Evaluator(["road", "sky"])
    acc.update("one", truth=[[0, 1], [1, 1]], pred=[[0, 0], [1, 1]])
    (tmp_path / "a.state").write_bytes(acc.to_bytes())
    target = tmp_path / f"f.{format}"
    command = [sys.executable, "-m", "calipers", "plot", str(tmp_path / "a.state"), "iou"]
    subprocess.run([*command, "-o", str(target), "--width", "4in", "--style", "dark"], check=True)
    assert acc.report().figure("iou", format, width="4in", style="dark") == target.read_bytes()


def test_figures_lists_what_can_be_drawn() -> None:
    assert segmented().figures == ["confusion", "confusion-by-column", "confusion-counts", "iou"]
    with pytest.raises(cp.UsageError, match="did you mean iou"):
        segmented().figure("iuo")
    with pytest.raises(cp.UsageError, match="paper, slides, dark"):
        segmented().figure("iou", style="poster")  # type: ignore[arg-type]
    with pytest.raises(cp.UsageError, match=r"3\.3in"):
        segmented().figure("iou", width="wide")


def test_artists_carry_the_numbers_of_the_report() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    report = segmented()
    axes = report.plot("iou")
    widths = {
        label.get_text(): bar.get_width()
        for label, bar in zip(axes.get_yticklabels(), axes.patches, strict=True)
    }
    assert widths == report["iou"]
    own = plt.figure().add_subplot()
    assert report.plot("confusion", ax=own) is own
    by_row = np.array([[1.0, 0.0], [1 / 3, 2 / 3]])
    assert np.array_equal(own.images[0].get_array(), by_row)
    survival = curves().report().plot("survival")
    assert list(survival.lines[0].get_ydata()) == [1.0, 0.5, 0.0, 0.0]
    plt.close("all")
    with pytest.raises(cp.UsageError, match="no figure of that name"):
        report.plot("nothing")


def test_every_drawable_figure_is_drawn_with_matplotlib(tmp_path: Path) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    drawn = 0
    for report in cp.demo(out=tmp_path / "demo"):
        for name in report.figures:
            axes = report.plot(name)
            axes.figure.canvas.draw()
            plt.close("all")
            drawn += 1
    assert drawn > 20


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"calipers\[plot\]"):
        segmented().plot("iou")
    assert segmented().figure("iou").startswith(b"<?xml")

"""Files measured from Python give the bytes that the command line writes."""

import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers._calipers import run_cli

Case = tuple[Any, tuple[Any, ...], dict[str, Any], list[str]]


def images(folder: pathlib.Path, units: int = 3, side: int = 8) -> None:
    rng = np.random.default_rng(1)
    for kind in ("gt", "out"):
        (folder / kind).mkdir()
        for unit in range(units):
            np.save(folder / kind / f"u{unit}.npy", rng.integers(0, 3, (side, side), dtype=np.uint8))


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Make inputs of every family in the working directory."""
    monkeypatch.chdir(tmp_path)
    images(tmp_path)
    (tmp_path / "names.txt").write_text("road\nsky\ncar\n")
    (tmp_path / "seg.toml").write_text('[data]\ntruth = "gt"\npred = "out"\n[labels]\noriginal = 3\n')
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    for unit in range(3):
        np.savez(tmp_path / f"g{unit}.npz", edge_index=edges, logits=[0.5, -1.0, unit], labels=[1, 0, 1])
    lines = ['{"unit": "a", "pred_mask": [0.9, 0.1, 0.4], "target_mask": [1, 0, 1]}',
             '{"unit": "b", "pred_mask": [0.2, 0.7, 0.4], "target_mask": [0, 1, 1]}']  # fmt: skip
    (tmp_path / "masks.jsonl").write_text("\n".join(lines))
    for run, values in ("cfg_0", [0.1, 0.95, 0.96]), ("cfg_1", [0.2, 0.3, 0.97]):
        rows = "".join(f"{epoch},{value},{value / 2}\n" for epoch, value in enumerate(values))
        (tmp_path / f"{run}.csv").write_text("epoch,F1,acc\n" + rows)
    features = {"clean": [[1.0], [2.0]], "attacked_0.05": [[1.0], [4.0]], "labels": [0, 0], "test_idx": [1]}
    np.savez(tmp_path / "run.npz", **features)
    return tmp_path


# fmt: off
CASES: dict[str, Case] = {
    "folders": (cp.segmentation, (),
                {"truth": "gt", "pred": pathlib.Path("out"), "classes": 3, "ignore": [255]},
                ["--truth", "gt", "--pred", "out", "--classes", "3", "--ignore", "255"]),
    "names": (cp.segmentation, (), {"truth": "gt", "pred": "out", "classes": "names.txt", "ignore": [255, 7]},
              ["--truth", "gt", "--pred", "out", "--classes", "names.txt", "--ignore", "255,7"]),
    "config": (cp.segmentation, ("seg.toml",), {"measure": "all", "thickness": 1, "bootstrap": 20, "seed": 4},
               ["seg.toml", "--measure", "all", "--thickness", "1", "--bootstrap", "20", "--seed", "4"]),
    "shard": (cp.segmentation, ("seg.toml",), {"shard": "1/2", "threads": 2, "flat": True, "partial": True},
              ["seg.toml", "--shard", "1/2", "--threads", "2", "--flat", "--partial"]),
    "graphs": (cp.independent_set, ("g0.npz", "g1.npz"), {"decoders": ["swap", "ils"], "pos_weight": 2.5},
               ["g0.npz", "g1.npz", "--decoders", "swap,ils", "--pos-weight", "2.5"]),
    "bootstrap": (cp.independent_set, ("g0.npz", "g1.npz"), {"bootstrap": 50, "seed": 3, "confidence": 0.9},
                  ["g0.npz", "g1.npz", "--bootstrap", "50", "--seed", "3", "--confidence", "0.9"]),
    "chosen": (cp.explanation, ("masks.jsonl",), {"metrics": ["recall", "auroc"], "threshold": 0.3},
               ["masks.jsonl", "--metrics", "recall,auroc", "--threshold", "0.3"]),
    "histories": (cp.training, ("cfg_0.csv", "cfg_1.csv"),
                  {"metric": "F1", "group_by": "suffix", "bootstrap": 30},
                  ["cfg_0.csv", "cfg_1.csv", "--metric", "F1", "--group-by", "suffix", "--bootstrap", "30"]),
    "arrays": (cp.robustness, ("run.npz",), {"hist_range": (0, 10), "bins": 5, "attack": "meta"},
               ["run.npz", "--hist-range", "0,10", "--bins", "5", "--attack", "meta"]),
}
# fmt: on


@pytest.mark.parametrize("case", CASES)
def test_report_and_state_are_the_bytes_of_the_command(case: str, folder: pathlib.Path) -> None:
    family, inputs, options, words = CASES[case]
    made = family.evaluate(*inputs, **options)
    command = family.__name__.rpartition(".")[2].replace("_", "-")
    assert run_cli(["calipers", command, *words, "--json", "r.json", "--state", "r.state", "--quiet"]) == 0
    assert made.report().to_json() == (folder / "r.json").read_text()
    assert made.to_bytes() == (folder / "r.state").read_bytes()
    assert type(made) is family.Evaluator


def test_a_copy_of_what_was_evaluated_reports_the_same(folder: pathlib.Path) -> None:
    import copy
    import pickle

    made = cp.segmentation.evaluate("seg.toml", bootstrap=20, seed=4)
    for twin in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert twin.report().to_json() == made.report().to_json()
    assert made.report(bootstrap=0).intervals == {}
    assert made.report(seed=5).intervals != made.report().intervals


def test_several_metrics_give_several_evaluators(folder: pathlib.Path) -> None:
    both = cp.training.evaluate("cfg_0.csv", metric=["F1", "acc"], threshold=[0.9, 0.4])
    assert [one.report().protocol["metric"] for one in both] == ["F1", "acc"]
    assert [one.report().protocol["threshold"] for one in both] == [0.9, 0.4]


def test_classes_may_be_named_in_the_call(folder: pathlib.Path) -> None:
    listed = cp.segmentation.evaluate(truth="gt", pred="out", classes=["road", "sky", "a, b"]).report()
    by_id = cp.segmentation.evaluate(
        truth="gt", pred="out", classes={2: "a, b", 0: "road", 1: "sky"}
    ).report()
    assert list(listed["iou"]) == ["road", "sky", "a, b"]
    assert listed.to_json() == by_id.to_json()
    assert cp.segmentation.evaluate(truth="gt", pred="out", classes=np.int64(3)).report().units == 3
    for wrong in ([], ["a", "a"], [1, 2], {"x": 1}, {0: ""}):
        with pytest.raises(cp.UsageError, match="class"):
            cp.segmentation.evaluate(truth="gt", pred="out", classes=wrong)


def test_shards_merge_into_the_whole(folder: pathlib.Path) -> None:
    one, two = (cp.segmentation.evaluate("seg.toml", shard=f"{shard}/2") for shard in (1, 2))
    one.merge(two.to_bytes())
    assert one.report() == cp.segmentation.evaluate("seg.toml").report()


def test_unknown_arguments_are_named_with_their_neighbour(folder: pathlib.Path) -> None:
    with pytest.raises(cp.UsageError, match=r"trhuth(.|\n)*did you mean truth") as caught:
        cp.segmentation.evaluate(trhuth="gt", pred="out", classes=3)
    assert isinstance(caught.value, TypeError)
    for said_elsewhere in ("json", "html", "state", "quiet", "per_unit"):
        with pytest.raises(TypeError, match=said_elsewhere):
            cp.segmentation.evaluate("seg.toml", **{said_elsewhere: "x"})


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"truth": "missing/", "pred": "out", "classes": 3}, cp.FileError, ["truth", "missing"]),
        ({"truth": b"gt", "pred": "out", "classes": 3}, cp.InputTypeError, ["truth", "bytes"]),
        ({"truth": "gt", "pred": "out", "classes": 3, "flat": 1}, cp.InputTypeError, ["flat", "1", "True"]),
        (
            {"truth": "gt", "pred": "out", "classes": 3, "bins": "ten"},
            cp.UsageError,
            ["bins", "ten", "whole"],
        ),
        ({"truth": "gt", "pred": "out", "classes": 3, "preset": "nope"}, cp.UsageError, ["preset", "mmseg"]),
        ({"truth": "gt", "pred": "out", "classes": 3, "shard": "3/2"}, cp.UsageError, ["shard", "3/2"]),
        ({"truth": "gt", "pred": "out", "classes": 3, "threads": 0}, cp.UsageError, ["threads", "0"]),
        ({"truth": "gt", "pred": "out", "classes": 3, "confidence": 1}, cp.UsageError, ["confidence", "1"]),
        ({"truth": "gt", "pred": "out", "classes": 3, "progress": 3}, cp.InputTypeError, ["progress", "int"]),
        ({}, cp.UsageError, ["classes"]),
    ],
)
def test_wrong_arguments_are_named(
    arguments: dict[str, Any], error: type[Exception], words: list[str], folder: pathlib.Path
) -> None:
    with pytest.raises(error) as caught:
        cp.segmentation.evaluate(**arguments)
    said = str(caught.value)
    assert all(word in said for word in words), said
    assert "--" not in said


def test_open_files_are_no_inputs(folder: pathlib.Path) -> None:
    with (folder / "g0.npz").open("rb") as file, pytest.raises(cp.InputTypeError, match="inputs"):
        cp.independent_set.evaluate(file)  # type: ignore[arg-type]
    assert issubclass(cp.FileError, OSError)
    with pytest.raises(OSError, match="nowhere"):
        cp.independent_set.evaluate("nowhere.npz")


def test_progress_counts_every_unit(folder: pathlib.Path) -> None:
    calls: list[tuple[int, int | None]] = []
    cp.segmentation.evaluate("seg.toml", progress=lambda done, total: calls.append((done, total)), threads=2)
    assert calls == [(0, 3), (1, 3), (2, 3), (3, 3)]

    def fails(done: int, total: int | None) -> None:
        raise LookupError(f"{done} of {total}")

    with pytest.raises(LookupError, match="0 of 3"):
        cp.segmentation.evaluate("seg.toml", progress=fails)


def test_strict_raises_after_everything_is_measured(folder: pathlib.Path) -> None:
    np.save(folder / "out" / "more.npy", np.zeros((8, 8), np.uint8))
    assert [w["code"] for w in cp.segmentation.evaluate("seg.toml").report().warnings]
    with pytest.raises(cp.UsageError, match="strict=True") as caught:
        cp.segmentation.evaluate("seg.toml", strict=True)
    assert isinstance(caught.value.evaluator, cp.segmentation.Evaluator)
    assert len(caught.value.evaluator) == 3
    (folder / "out" / "more.npy").unlink()
    assert len(cp.segmentation.evaluate("seg.toml", strict=True)) == 3


def test_nothing_is_printed_and_nothing_written(
    folder: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    cp.training.evaluate("cfg_0.csv", metric="F1")
    cp.segmentation.evaluate("seg.toml", progress=True)
    assert capfd.readouterr() == ("", "")
    assert sorted(folder.iterdir()) == before


def stopped(work: Callable[[], object], after: float) -> float:
    """Return what the work took after Ctrl-C, in seconds of the processor: others do not lengthen them."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    ended = time.process_time()
    timer.join()
    return ended - sent[0]


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_work_within_a_second(tmp_path: pathlib.Path) -> None:
    images(tmp_path, units=40, side=1200)
    files = {"truth": tmp_path / "gt", "pred": tmp_path / "out", "classes": 3, "measure": "all"}
    assert stopped(lambda: cp.segmentation.evaluate(**files, threads=1), 0.3) < 1


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_reading_of_a_large_file_within_a_second(tmp_path: pathlib.Path) -> None:
    features = np.zeros((400_000, 64))
    np.savez(tmp_path / "run.npz", clean=features, **{"attacked_0.1": features})
    assert stopped(lambda: cp.robustness.evaluate(tmp_path / "run.npz", threads=1), 0.1) < 1


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_unit_that_another_thread_measures(tmp_path: pathlib.Path) -> None:
    images(tmp_path, units=1, side=4)
    files = {"truth": tmp_path / "gt", "pred": tmp_path / "out", "classes": 3}
    # Beside a small one on this thread, a large one whose contours look far in vain.
    truth, pred = np.zeros((2000, 2000), np.uint8), np.zeros((2000, 2000), np.uint8)
    truth[-3:, -3:] = 1
    pred[:600:2, :600:2] = 1
    np.save(tmp_path / "gt/large.npy", truth)
    np.save(tmp_path / "out/large.npy", pred)
    slow = {"measure": ["contour"], "tolerance_px": 900, "threads": 2}
    assert stopped(lambda: cp.segmentation.evaluate(**files, **slow), 0.5) < 1

"""Training logs from Python: their runs, their keys, and the study that they make."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers._calipers import run_cli

STUDY = {
    "demo": {
        "lr1": {
            "runs": {"0": {"name": "lr1/0"}, "1": {"name": "lr1/1"}},
            "summary": {"fold0": {"test_data_last_step": [{"test_F1_micro": 99.5}]}},
        }
    }
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make two configurations in the working directory."""
    monkeypatch.chdir(tmp_path)
    for run, values in {"lr1/0": [50, 95, 93], "lr1/1": [20, 40, 92], "lr2/0": [10, 95, 96]}.items():
        rows = "".join(f"{epoch},{value},{run[2]}\n" for epoch, value in enumerate(values))
        (tmp_path / "logs" / run).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs" / f"{run}.csv").write_text("epoch,F1,lr\n" + rows)
    return tmp_path


def test_runs_are_what_is_measured(folder: Path) -> None:
    words: dict[str, Any] = {"metric": "F1", "scale": 100, "group_by": ["folder", "column:lr"]}
    runs = cp.training.read("logs", **words)
    measured = cp.training.evaluate("logs", **words)
    assert [run.unit for run in runs] == ["lr1 / 1/0", "lr1 / 1/1", "lr2 / 2/0"]
    one = runs["lr1 / 1/1"]
    assert (one.group, one.fold, one.name, one.format, one.x_name) == (
        "lr1 / 1",
        "1",
        "lr1/1",
        "csv",
        "epoch",
    )
    assert (one.source, one.config) == ("logs/lr1/1.csv", {"lr": "1"})
    assert (one.x.dtype, one.values.dtype) == (np.float64, np.float64)
    assert one.values.tolist() == [0.2, 0.4, 0.92]
    again = cp.training.Evaluator("F1", threshold=0.9)
    for run in runs:
        again.update(run.unit, run.values, run.x, group=run.group, fold=run.fold)
    assert dict(again.report()) == dict(measured.report())


def test_points_are_rows_of_a_data_frame(folder: Path) -> None:
    runs = cp.training.read(folder / "logs", metric="F1", group_by="folder", index="epoch", first_epoch=-1)
    columns = ["unit", "group", "fold", "number", "x", "value"]
    for frame in (runs.to_pandas(), runs.to_polars()):
        assert list(frame.columns) == columns
        assert len(frame) == 9
    frame = runs.to_pandas()
    assert frame[frame.unit == "lr2/0"][["number", "x", "value"]].values.tolist() == [
        [2, 0.0, 10.0],
        [3, 1.0, 95.0],
        [4, 2.0, 96.0],
    ]


def test_runs_are_a_sequence_that_copies_and_pickles(folder: Path) -> None:
    runs = cp.training.read("logs", metric="F1", group_by="folder")
    assert isinstance(runs, cp.training.Runs)
    assert (len(runs), len(runs[1:]), runs[-1].unit) == (3, 2, "lr2/0")
    for twin in (copy.copy(runs), copy.deepcopy(runs), pickle.loads(pickle.dumps(runs))):
        assert twin.to_pandas().equals(runs.to_pandas())
    assert repr(runs) == "Runs(3 runs in 2 groups, 9 points)"
    assert repr(runs[0]) == "Run('lr1/0', 3 points over 'epoch', csv)"
    with pytest.raises(cp.InputError, match=r"lr9/0(.|\n)*lr1/0, lr1/1, lr2/0"):
        runs["lr9/0"]
    assert {warning["code"] for warning in runs.warnings} == {"percent-scale", "uneven-folds"}


def test_only_what_counts_of_equal_x_is_read(folder: Path) -> None:
    (folder / "twice.csv").write_text("epoch,F1\n0,0.1\n1,0.2\n1,0.4\n2,\n3,nan\n")
    runs = cp.training.read("twice.csv", metric="F1", duplicates="mean")
    assert (runs[0].x.tolist(), runs[0].values.tolist()) == ([0.0, 1.0], [0.1, (0.2 + 0.4) / 2])
    failed = cp.training.read("twice.csv", metric="F1", duplicates="last", nan="fail")[0].values
    assert np.isnan(failed[-1])


def test_keys_are_the_json_of_the_command(folder: Path) -> None:
    found = cp.training.keys("logs", where="lr=1")
    assert run_cli(["calipers", "training", "logs", "--keys", "--where", "lr=1", "--json", "keys.json"]) == 0
    assert found == json.loads((folder / "keys.json").read_text())
    assert [run["run"] for run in found["runs"]] == ["lr1/0", "lr1/1"]


def test_a_study_is_extracted_as_the_command_does(folder: Path) -> None:
    with pytest.warns(UserWarning, match="artefact-missing"):
        made = cp.training.extract("logs", group_by="folder", project="demo", output=folder / "a.json")
    words = ["--group-by", "folder", "--project", "demo", "-o", "b.json", "--quiet"]
    assert run_cli(["calipers", "training", "extract", "logs", *words]) == 0
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()
    assert made == json.loads((folder / "b.json").read_text())
    with pytest.raises(cp.UsageError, match="strict=True"):
        cp.training.extract("logs", group_by="folder", strict=True)


@pytest.mark.filterwarnings("ignore:artefact-missing")
def test_tables_are_the_bytes_of_the_command(folder: Path) -> None:
    (folder / "study.json").write_text(json.dumps(STUDY))
    command = ["calipers", "training", "logs", "--metric", "F1", "--label", "F1-", "--quiet"]
    words: dict[str, Any] = {"metric": "F1", "label": "F1-"}
    for name, more, given in (
        ("extracted", ["--group-by", "folder"], {"group_by": "folder"}),
        ("read", ["--runs", "study.json", "--group-by", "runs", "--where", "lr=1"],
         {"runs": "study.json", "group_by": "runs", "where": "lr=1"}),
        ("parsed", ["--runs", "study.json", "--group-by", "runs", "--where", "lr=1"],
         {"runs": STUDY, "group_by": "runs", "where": "lr=1"}),
    ):  # fmt: skip
        assert run_cli([*command, *more, "--table", f"out/{name}"]) == 0
        made = cp.training.tables("logs", **words, **given)
        made.write(folder / "mine" / name)
        for suffix, table in zip(("STRICT", "MEAN_WISE", "MEAN_NAIVE"), made, strict=True):
            texts = (table.to_csv(), table.to_markdown(), table.to_latex())
            for ending, text in zip(("csv", "md", "tex"), texts, strict=True):
                theirs = (folder / f"out/{name}_{suffix}.{ending}").read_text()
                assert text == theirs == (folder / f"mine/{name}_{suffix}.{ending}").read_text()


def test_tables_without_histories_hold_what_the_json_says() -> None:
    made = cp.training.tables(runs=STUDY, project="demo")
    frame = made.mean_wise.to_pandas()
    assert (frame.index.tolist(), frame["tag_name"].tolist()) == ([0], ["lr1"])
    assert frame["F1-"].tolist() == [99.5]
    assert made.strict.to_pandas()["F1-"].isna().all()
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert len(repr(made)) <= 100
    growing = {str(fold): {"carbon_data": {"train_emissions": fold}} for fold in range(3)}
    group = {"runs": {}, "summary": {f"fold{fold}": one for fold, one in growing.items()}}
    assert [w["code"] for w in cp.training.tables(runs={"p": {"g": group}}).warnings] == ["cumulative-carbon"]


@pytest.mark.parametrize(
    ("call", "options", "error", "words"),
    [
        ("read", {"metric": "f1"}, cp.InputError, ["'f1'", "did you mean 'F1'"]),
        ("read", {"metric": ["F1", "lr"]}, cp.UsageError, ["one metric", "metric", "F1, lr"]),
        ("read", {"metric": "F1", "treshold": 1}, cp.UsageError, ["treshold", "threshold"]),
        ("read", {"metric": "F1", "state": "x"}, cp.UsageError, ["state"]),
        ("read", {"metric": "F1", "group_by": "nope"}, cp.UsageError, ["group_by", "nope", "folder"]),
        ("read", {"metric": "F1", "where": "lr=7"}, cp.InputError, ["lr=7", "1, 2"]),
        ("keys", {"formt": "csv"}, cp.UsageError, ["formt", "format"]),
        ("keys", {"where": "nope=1"}, cp.InputError, ["nope", "lr"]),
        ("extract", {"metric": "F1"}, cp.UsageError, ["metric"]),
        ("extract", {"output": "logs"}, cp.FileError, ["logs", "folder"]),
        ("tables", {"metric": "F1", "runs": {"p": 3}}, cp.FormatError, ["runs", "p", "{project: {group"]),
        ("tables", {"metric": "F1", "shard": "1/2"}, cp.UsageError, ["every fold", "shard"]),
        ("tables", {"runs": "nowhere.json"}, cp.FileError, ["nowhere.json", "runs"]),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(
    call: str, options: dict[str, Any], error: type[Exception], words: list[str], folder: Path
) -> None:
    with pytest.raises(error) as caught:
        getattr(cp.training, call)("logs", **options)
    said = str(caught.value)
    assert all(word in said for word in words), said
    assert "--" not in said


def test_progress_counts_every_history(folder: Path) -> None:
    calls: list[tuple[int, int | None]] = []
    cp.training.keys("logs", progress=lambda done, total: calls.append((done, total)))
    assert calls == [(0, 3), (1, 3), (2, 3), (3, 3)]

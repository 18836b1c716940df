"""Logs as the libraries themselves write them, read by the program."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("write_logs.py")
LOGS = Path(__file__).parents[3] / "target/training-logs"
LIBRARIES = {"tensorboard": ["tensorboard", "torch"], "lightning": ["lightning", "tensorboard"]}
LIBRARIES |= {"transformers": ["transformers", "accelerate"], "keras": ["keras", "torch"]}
LIBRARIES |= {"pandas": ["pandas", "pyarrow"]}


def written(part: str) -> Path:
    """Return the folder of a part's logs, which are written when the script is new."""
    for library in LIBRARIES.get(part, [part]):
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    digest = hashlib.blake2b(SCRIPT.read_bytes(), digest_size=6).hexdigest()
    folder = LOGS / digest / part
    done = LOGS / digest / f"{part}.done"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        said = subprocess.run(
            [sys.executable, str(SCRIPT), part, str(folder)], capture_output=True, text=True, cwd=folder
        )
        assert said.returncode == 0, said.stderr[-3000:]
        done.touch()
    return folder


def run(folder: Path, *words: str, environment: dict[str, str] | None = None) -> Any:
    command = [sys.executable, "-m", "calipers", "training", *words]
    settings = {**os.environ, "NO_PROXY": "127.0.0.1", **(environment or {})}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=settings)


def report(folder: Path, *words: str) -> dict[str, Any]:
    said = run(folder, *words, "--json", "-", "--quiet")
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


def codes(found: dict[str, Any]) -> set[str]:
    return {warning["code"] for warning in found["warnings"]}


def units(folder: Path, *words: str) -> dict[str, dict[str, str]]:
    said = run(folder, *words, "--per-unit", "units.csv", "--quiet")
    assert said.returncode == 0, said.stderr
    with (folder / "units.csv").open(newline="") as file:
        found = {row["unit"]: row for row in csv.DictReader(file)}
    (folder / "units.csv").unlink()
    return found


def value(found: dict[str, Any], name: str, group: str = "all") -> Any:
    return found["metrics"][f"training.{name}"][group]


def test_a_resumed_run_of_wandb_is_one_run_whose_later_part_counts() -> None:
    logs = written("wandb")
    found = report(logs, "resumed", "--metric", "F1")
    assert (found["units"], value(found, "velocity_wise")) == (1, 4.0)
    assert value(found, "epochs_mean") == 6.0
    assert "restarted" in codes(found)
    shifted = report(logs, "shifted", "--metric", "F1")
    assert (value(shifted, "epochs_mean"), value(shifted, "velocity_wise")) == (5.0, 4.0)
    assert "steps-shifted" in codes(shifted)


def test_runs_of_one_name_are_told_apart_by_their_identifiers() -> None:
    logs = written("wandb")
    assert set(units(logs, "named", "--metric", "F1", "--group-by", "wandb")) == {
        "g/sweep (samename1)",
        "g/sweep (samename2)",
        "g/sweep (other0003)",
    }
    assert "same-name" in codes(report(logs, "named", "--metric", "F1"))


def test_the_declared_step_metric_is_x_and_a_missing_epoch_falls_back() -> None:
    logs = written("wandb")
    found = report(logs, "defined", "--metric", "val/F1")
    assert {entry["x"] for entry in found["inputs"]} == {"val/epoch"}
    apart = report(logs, "apart", "--metric", "F1")
    assert {entry["x"] for entry in apart["inputs"]} == {"_step"}
    assert "x-fallback" in codes(apart)


def test_experiments_and_parents_of_mlflow_are_groups() -> None:
    logs = written("mlflow")
    found = report(logs, "mlflow.db", "--metric", "val/F1", "--skip-missing", "--group-by", "experiment")
    assert found["metrics"]["training.fold_count"] == {"one": 2, "three": 2, "two": 1}
    assert "metric-missing" in codes(found)
    pooled = report(logs, "mlflow.db", "--metric", "val/F1", "--skip-missing")
    assert {"groups-ignored", "same-name"} <= codes(pooled)
    words = ("--where", "experiment=three", "--skip-missing", "--group-by", "parent")
    assert report(logs, "sqlite:///mlflow.db", "--metric", "val/F1", *words)["metrics"][
        "training.fold_count"
    ] == {"parent": 2}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Serve the database of the other tests on this machine."""
    logs = written("mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", "sqlite:///mlflow.db"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "GIT_PYTHON_REFRESH": "quiet"}
    log = (logs / "server.log").open("w")
    process = subprocess.Popen(command, cwd=logs, stdout=log, stderr=log, env={**os.environ, **quiet})
    address = f"http://127.0.0.1:{port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        for _ in range(600):
            try:
                opener.open(f"{address}/health", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                assert process.poll() is None, (logs / "server.log").read_text()
                time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait()
        log.close()


def test_a_tracking_server_gives_the_numbers_of_its_database(server: str) -> None:
    logs = written("mlflow")
    words = ("--metric", "val/F1", "--skip-missing", "--group-by", "experiment")
    of_file = report(logs, "mlflow.db", *words)
    for address in (f"mlflow+{server}", server):
        served = report(logs, address, *words)
        assert served["metrics"] == of_file["metrics"]
        assert all(entry["path"].startswith(f"{address}/runs/") for entry in served["inputs"])
    named = run(logs, "mlflow:", *words, "--json", "-", environment={"MLFLOW_TRACKING_URI": server})
    assert json.loads(named.stdout)["metrics"] == of_file["metrics"]
    # What was served is asked for again and compared.
    (logs / "served.json").write_text(run(logs, f"mlflow+{server}", *words, "--json", "-").stdout)
    command = [sys.executable, "-m", "calipers", "verify", "served.json"]
    said = subprocess.run(command, cwd=logs, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_keys_of_a_server_are_those_of_its_database(server: str) -> None:
    logs = written("mlflow")
    listed = [json.loads(run(logs, where, "--keys", "--json", "-").stdout) for where in ("mlflow.db", server)]
    for part in ("metrics", "x", "config"):
        assert listed[0][part] == listed[1][part]


def test_a_purged_step_takes_back_what_was_logged_from_it_on() -> None:
    found = report(written("tensorboard"), "purged", "--metric", "val/F1")
    # As many as TensorBoard's own EventAccumulator returns.
    assert value(found, "epochs_mean") == 9.0
    assert "restarted" in codes(found)


def test_folders_of_hyper_parameters_are_left_out_on_request() -> None:
    logs = written("tensorboard")
    assert run(logs, "searched", "--metric", "val/F1").returncode == 1
    found = report(logs, "searched", "--metric", "val/F1", "--skip-missing")
    assert (found["units"], value(found, "velocity_wise")) == (1, 3.0)
    assert value(report(logs, "several/F1_val", "--metric", "F1"), "velocity_wise") == 3.0


def test_a_value_stored_as_float32_meets_the_threshold_that_it_was() -> None:
    logs = written("tensorboard")
    assert value(report(logs, "tie", "--metric", "val/F1"), "stability_wise") == 0.0
    assert value(report(logs, "tie", "--metric", "val/F1", "--precision", "double"), "stability_wise") == 0.25


def test_two_loggers_in_one_folder_are_one_run() -> None:
    logs = written("lightning")
    settings = ("--metric", "val_F1", "--group-by", "column:lr", "--where", "net.depth=2")
    assert report(logs, "both", *settings)["metrics"]["training.fold_count"] == {"0.1": 1}
    found = report(logs, "both", "--metric", "val_F1")
    assert (found["units"], value(found, "velocity_wise")) == (1, 3.0)
    assert len(found["inputs"]) >= 2


def test_several_evaluations_per_epoch_name_the_step_as_remedy() -> None:
    logs = written("lightning")
    said = run(logs, "quarter", "--metric", "val_F1")
    assert "duplicate-x" in said.stderr + said.stdout
    assert "--x step" in said.stderr + said.stdout
    assert value(report(logs, "quarter", "--metric", "val_F1", "--x", "step"), "epochs_mean") == 12.0


def test_a_history_that_begins_late_is_said() -> None:
    assert "late-start" in codes(report(written("lightning"), "resumed", "--metric", "val_F1"))


def test_checkpoints_of_one_run_are_one_run() -> None:
    logs = written("transformers")
    whole = report(logs, "lr1/fold0", "--metric", "eval_F1")
    assert (whole["units"], value(whole, "velocity_wise")) == (1, 3.0)
    checkpoints = [f"lr1/fold0/checkpoint-{step}" for step in (10, 12)]
    joined = report(logs, *checkpoints, "--metric", "eval_F1")
    assert joined["metrics"] == whole["metrics"]
    assert "checkpoints-joined" in codes(joined)
    said = run(logs, "lr1", "--metric", "F1")
    assert said.returncode == 1
    assert "eval_F1" in said.stderr


def test_a_continued_csv_of_keras_is_read_on_and_a_restarted_one_is_said() -> None:
    logs = written("keras")
    assert value(report(logs, "continued.csv", "--metric", "val_F1"), "epochs_mean") == 6.0
    said = run(logs, "restarted.csv", "--metric", "val_F1")
    assert "--restarts" in said.stderr + said.stdout
    appended = report(logs, "restarted.csv", "--metric", "val_F1", "--restarts", "append")
    assert (value(appended, "epochs_mean"), value(appended, "velocity_wise")) == (6.0, 3.0)


def test_a_folder_of_dvclive_is_one_run() -> None:
    logs = written("dvclive")
    words = ("--metric", "val/F1", "--group-by", "folder")
    found = report(logs, ".", *words)
    assert (found["units"], value(found, "velocity_wise", "cfg")) == (2, 3.0)
    # Each fold has parameters of its own beside its metrics.
    one = report(logs, ".", *words, "--where", "fold=1", "--where", "net.depth=2")
    assert (one["units"], one["metrics"]["training.fold_count"]) == (1, {"cfg": 1})
    by_depth = report(logs, ".", "--metric", "val/F1", "--group-by", "column:net.depth")
    assert by_depth["metrics"]["training.fold_count"] == {"2": 2}


@pytest.mark.parametrize(
    "name",
    [f"{orient}.json" for orient in ("columns", "index", "records", "split", "table")]
    + [f"{codec}.parquet" for codec in ("gzip", "brotli", "lz4", "snappy", "zstd", "single", "half")],
)
def test_tables_of_pandas_give_one_curve(name: str) -> None:
    found = report(written("pandas"), name, "--metric", "val_F1")
    assert (value(found, "velocity_wise"), value(found, "epochs_mean")) == (3.0, 6.0)


def test_a_list_of_values_without_names_is_no_history() -> None:
    said = run(written("pandas"), "values.json", "--metric", "val_F1")
    assert said.returncode == 1
    assert "values.json" in said.stderr


@pytest.mark.parametrize(("name", "words"), [("utf16.csv", ()), ("cp1252.csv", ("--encoding", "cp1252"))])
def test_text_in_other_encodings_is_read(name: str, words: tuple[str, ...]) -> None:
    assert value(report(written("pandas"), name, "--metric", "Qualität", *words), "velocity_wise") == 3.0


@pytest.mark.parametrize(
    ("part", "pattern", "metric", "points"),
    [
        ("wandb", "defined/**/*.wandb", "val/F1", 6),
        ("tensorboard", "tie/*tfevents*", "val/F1", 3),
        ("keras", "continued.csv", "val_F1", 5),
        ("dvclive", "cfg/fold0/plots/metrics/val/F1.tsv", "val/F1", 5),
    ],
)
def test_a_log_that_is_being_written_is_read_up_to_its_last_whole_record(
    part: str, pattern: str, metric: str, points: int, tmp_path: Path
) -> None:
    whole = next(iter(sorted(written(part).glob(pattern))))
    # DVCLive's keys are the paths below its folder.
    place = Path(*whole.parts[whole.parts.index("plots") :]) if part == "dvclive" else Path(whole.name)
    log = tmp_path / "run" / place
    log.parent.mkdir(parents=True)
    text = whole.read_bytes()
    # A last line of all cells counts; here the last cell is yet to come.
    separator = {".csv": b",", ".tsv": b"\t"}.get(whole.suffix)
    log.write_bytes(text[: text.rindex(separator)] if separator else text[:-4])
    found = report(tmp_path, "run", "--metric", metric)
    cut = next(warning for warning in found["warnings"] if warning["code"] == "truncated-file")
    assert "at byte" in cut["message"]
    assert value(found, "epochs_mean") == points


@pytest.mark.parametrize(
    ("part", "metric", "x"),
    [
        ("wandb", "F1", "_step"),
        ("mlflow", "val/F1", "step"),
        ("tensorboard", "val/F1", "step"),
        ("lightning", "val_F1", "epoch"),
        ("transformers", "eval_F1", "step"),
        ("keras", "val_F1", "epoch"),
        ("dvclive", "val/F1", "step"),
    ],
)
def test_the_keys_of_every_library_are_listed(part: str, metric: str, x: str) -> None:
    logs = written(part)
    said = run(logs, ".", "--keys", "--json", "-")
    assert said.returncode == 0, said.stderr
    listed = json.loads(said.stdout)
    assert list(listed) == ["metrics", "x", "config", "runs"]
    assert metric in {entry["key"] for entry in listed["metrics"]}
    assert x in {entry["key"] for entry in listed["x"]}
    assert all(entry["files"] for entry in listed["runs"])


def test_checkpoints_and_their_epochs_are_extracted_and_read_back(tmp_path: Path) -> None:
    logs = written("transformers")
    study = str(tmp_path / "artefacts.json")
    said = run(logs, "extract", ".", "-o", study, "--group-by", "folder", "--project", "study")
    assert said.returncode == 0, said.stderr
    assert "artefact-missing" in said.stderr
    group = json.loads(Path(study).read_text())["study"]["lr1"]
    assert [(one["epoch"], one["file_path"]) for one in group["ckpt"]["fold0"]] == [
        ("5", "checkpoint-10"),
        ("6", "checkpoint-12"),
    ]
    words = ("--runs", study, "--group-by", "runs", "--metric", "eval_F1", "--label", "F1-")
    assert run(logs, ".", *words, "--table", str(tmp_path / "back")).returncode == 0
    back = (tmp_path / "back_STRICT.csv").read_text()
    once = ("--group-by", "folder", "--project", "study", "--metric", "eval_F1", "--label", "F1-")
    assert run(logs, ".", *once, "--table", str(tmp_path / "once")).returncode == 0
    assert (tmp_path / "once_STRICT.csv").read_text() == back

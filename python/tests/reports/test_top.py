"""What the package does with several families at once."""

import copy
import pathlib
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers._calipers import run_cli


def images(names: str) -> cp.segmentation.Evaluator:
    acc = cp.segmentation.Evaluator(2)
    for name in names:
        acc.update(name, truth=[[0, 1]], pred=[[0, ord(name) % 2]])
    return acc


def test_every_metric_is_listed_with_its_definition() -> None:
    listed = cp.metrics()
    assert {metric.family for metric in listed} == {
        "independent_set", "explanation", "segmentation", "training", "robustness",
    }  # fmt: skip
    assert {metric.better for metric in listed} == {"higher", "lower", None}
    for metric in listed:
        definition = cp.explain(metric.id)
        assert definition.startswith(f"{metric.id}\n")
        assert (definition.id, definition.measures) == (metric.id, metric.measures)
        assert definition.better == metric.better
        assert definition.reference
    assert cp.metrics("training") == [metric for metric in listed if metric.family == "training"]
    with pytest.raises(cp.UsageError, match="family"):
        cp.metrics("elephants")


def test_a_definition_is_the_text_of_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["calipers", "explain", "miou"]) == 0
    assert capfd.readouterr().out == cp.explain("miou")
    assert copy.copy(cp.explain("miou")).formula == pickle.loads(pickle.dumps(cp.explain("miou"))).formula
    with pytest.raises(cp.UnknownMetricError, match=r"independent_set\.f1 or segmentation\.f1"):
        cp.explain("f1")
    with pytest.raises(cp.UnknownMetricError, match=r"mioo(.|\n)*miou"):
        cp.explain("mioo")


def test_states_merge_from_evaluators_bytes_and_files(tmp_path: pathlib.Path) -> None:
    images("cd").save(tmp_path / "cd.state")
    given: list[Any] = [images("ab"), images("bc").to_bytes(), tmp_path / "cd.state"]
    for states in (given, given[::-1]):
        assert cp.merge(states, threads=2) == images("abcd")
    assert len(given[0]) == 2
    assert cp.load(tmp_path / "cd.state") == images("cd")
    with pytest.raises(cp.UsageError, match="states"):
        cp.merge([])
    with pytest.raises(cp.ProtocolMismatchError):
        cp.merge([images("a"), cp.training.Evaluator()])
    other = cp.segmentation.Evaluator(2)
    other.update("a", truth=[[0, 1]], pred=[[1, 1]])
    with pytest.raises(cp.ConflictError):
        cp.merge([images("b").to_bytes(), images("a"), other])


def test_reports_are_read_again(tmp_path: pathlib.Path) -> None:
    report = images("ab").report()
    (tmp_path / "r.json").write_text(report.to_json())
    assert cp.load(tmp_path / "r.json") == report
    both = cp.to_json([report, images("a").report()])
    assert [one.units for one in cp.load(both.encode())] == [2, 1]
    with pytest.raises(cp.FileError, match="nowhere"):
        cp.load(tmp_path / "nowhere.json")
    with pytest.raises(cp.FormatError):
        cp.load(b"{}")
    with pytest.raises(cp.InputTypeError, match="path_or_bytes"):
        cp.load(3)  # type: ignore[arg-type]


def test_a_report_of_files_is_verified(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("g.npz", edge_index=[[0, 1], [1, 0]], logits=[1.0, -1.0], labels=[1, 0])
    cp.independent_set.evaluate("g.npz").report().to_json("r.json")
    assert cp.verify("r.json") == []
    text = pathlib.Path("r.json").read_text()
    pathlib.Path("changed.json").write_text(
        text.replace('"independent_set.accuracy": 1', '"independent_set.accuracy": 0')
    )
    assert any("accuracy" in line for line in cp.verify("changed.json"))
    monkeypatch.chdir("/")
    assert cp.verify(tmp_path / "r.json", root=tmp_path) == []
    with pytest.raises(cp.FileError) as caught:
        cp.verify(tmp_path / "r.json")
    assert "root" in str(caught.value)
    assert "--" not in str(caught.value)


def test_the_demo_is_five_families(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    reports = cp.demo(tmp_path / "demo")
    assert {report.protocol["name"] for report in reports} == {metric.family for metric in cp.metrics()}
    assert cp.load(tmp_path / "demo" / "report.json") == reports
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("ctrl_c")
def test_a_folder_is_served_until_ctrl_c(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    import os
    import signal
    import time
    import urllib.request

    images("ab").report().to_json(tmp_path / "r.json")
    answers = []

    def look() -> None:
        address = ""
        while not address:
            time.sleep(0.05)
            address = capfd.readouterr().out.strip()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        try:
            with opener.open(address, timeout=10) as answer:
                answers.append(answer.status)
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    looker = threading.Thread(target=look)
    looker.start()
    with pytest.raises(KeyboardInterrupt):
        cp.serve(tmp_path)
    looker.join()
    assert answers == [200]
    with pytest.raises(cp.UsageError, match="port"):
        cp.serve(tmp_path, port=70000)


def test_heads_are_fitted_as_by_the_command(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name in ("gt", "out"):
        (tmp_path / name).mkdir()
    for unit in range(6):
        truth = rng.integers(0, 3, (8, 8), dtype=np.uint8)
        np.save(f"gt/{unit}.npy", truth)
        np.save(f"out/{unit}.npy", 3 * rng.normal(size=(3, 8, 8)) + 2 * np.eye(3)[truth].transpose(2, 0, 1))
    config = (
        '[data]\ntruth = "gt"\npred = "out"\n[labels]\noriginal = 3\n[[heads]]\nname = "h"\nkind = "logits"\n'
    )
    pathlib.Path("val.toml").write_text(config)
    fitted = cp.segmentation.fit("val.toml", holdout=0.5, seed=2, output="python.toml")
    words = ["val.toml", "-o", "command.toml", "--holdout", "0.5", "--seed", "2", "--quiet"]
    assert run_cli(["calipers", "segmentation", "fit", *words]) == 0
    assert fitted.toml == pathlib.Path("python.toml").read_text() == pathlib.Path("command.toml").read_text()
    assert set(fitted.alpha) == set(fitted.tau) == {"h"}
    assert fitted.nll_fitted <= fitted.nll
    assert fitted.nll_holdout is not None
    assert cp.segmentation.fit("val.toml", holdout=0).nll_holdout is None
    with pytest.raises(cp.UsageError, match="holdout"):
        cp.segmentation.fit("val.toml", holdout=2)

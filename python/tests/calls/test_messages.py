"""What errors say: the argument, what was found, and what is allowed, in Python's words."""

import inspect
import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from wrong_calls import EDGES, RUSTY, WRONG, make_inputs, said

import calipers as cp

SEG = {"truth": "gt", "pred": "out", "classes": 3}


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Make inputs of every family in the working directory."""
    monkeypatch.chdir(tmp_path)
    make_inputs(tmp_path)
    return tmp_path


FILES: dict[str, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
    "segmentation": (cp.segmentation.evaluate, (), SEG),
    "independent_set": (cp.independent_set.evaluate, ("g.npz",), {}),
    "explanation": (cp.explanation.evaluate, ("masks.jsonl",), {}),
    "training": (cp.training.evaluate, ("run.csv",), {"metric": "F1"}),
    "robustness": (cp.robustness.evaluate, ("run.npz",), {}),
}


def options(family: str) -> list[str]:
    """Return the options that the docstring of `evaluate` lists."""
    text = inspect.getdoc(FILES[family][0]) or ""
    listed = text[: text.index(">>>")]
    return sorted(set(re.findall(r"`(\w+)`", listed)) - {"inputs", "UsageError"})


@pytest.mark.parametrize("family", FILES)
def test_no_option_of_files_answers_in_another_language(family: str, folder: pathlib.Path) -> None:
    evaluate, inputs, fine = FILES[family]
    names = options(family)
    assert len(names) > 10
    for name in names:
        for value in WRONG:
            message = said(lambda: evaluate(*inputs, **{**fine, name: value}))  # noqa: B023
            if message is not None:
                assert not RUSTY.search(message), f"{name}={value!r}: {message}"


@pytest.mark.parametrize("family", FILES)
def test_every_option_is_documented_and_every_documented_one_is_known(
    family: str, folder: pathlib.Path
) -> None:
    evaluate, inputs, fine = FILES[family]
    for name in options(family):
        message = said(lambda: evaluate(*inputs, **{**fine, name: object()}))  # noqa: B023
        assert message is not None
        assert name in message
        assert "no such argument" not in message, message
    # A name that is like no other is answered with all of them.
    known = said(lambda: evaluate(*inputs, **{**fine, "qqqqqqqqqqqq": 1}))
    assert known is not None
    allowed = set(known.partition("allowed: ")[2].split(", ")) - {"metric"}
    assert allowed == set(options(family)) - {"progress", "strict"}


@pytest.mark.parametrize("family", FILES)
def test_no_setting_of_an_evaluator_answers_in_another_language(family: str) -> None:
    kind = getattr(cp, family).Evaluator
    fine = {"labels": 2} if family == "segmentation" else {}
    for name in inspect.signature(kind).parameters:
        for value in WRONG:
            message = said(lambda: kind(**{**fine, name: value}))  # noqa: B023
            if message is not None:
                assert not RUSTY.search(message), f"{name}={value!r}: {message}"
                assert name in message, f"{name}={value!r}: {message}"


LABELS = {"original": 2}
PAIR = cp.segmentation.Evaluator(2), cp.segmentation.Evaluator(2)
CALLS: list[tuple[Callable[[], Any], type[Exception], list[str]]] = [
    (lambda: cp.segmentation.Evaluator(LABELS, bins="ten"), cp.InputTypeError, ["bins", "str", "count"]),
    (lambda: cp.segmentation.Evaluator(LABELS, preset="nope"), cp.UsageError, ["preset", "nope", "mmseg"]),
    (lambda: cp.segmentation.Evaluator({"ignor": 3}), TypeError, ["labels['ignor']", "ignore"]),
    (lambda: cp.segmentation.Evaluator(2, bins={"cont": 3}), TypeError, ["bins['cont']", "count"]),
    (lambda: cp.segmentation.Evaluator(2, boundary={"x": 3}), TypeError, ["boundary['x']", "thickness"]),
    (lambda: cp.segmentation.Evaluator(2, heads=[{"nam": 3}]), TypeError, ["heads[0]['nam']", "name"]),
    (lambda: cp.segmentation.Evaluator(2, elephants=3), TypeError, ["elephants"]),
    (lambda: cp.training.Evaluator(threshold="x"), cp.InputTypeError, ["threshold", "str", "number"]),
    (lambda: cp.independent_set.Evaluator(ils_iterations=-1), cp.UsageError, ["ils_iterations", "-1", "0"]),
    (lambda: cp.independent_set.Evaluator(pos_weight=-1), cp.UsageError, ["pos_weight", "-1", "0 or more"]),
    (lambda: cp.robustness.Evaluator(bins=0), cp.UsageError, ["bins", "0", "1 to 100000"]),
    (lambda: cp.explanation.Evaluator().update("a", explainer="x"), TypeError, ["explainer"]),
    (lambda: cp.explanation.Evaluator().update("a", y_hat=[[0.5, 0.5]], y_sub=[[0.5, 0.5]]), cp.InputError,
     ["scores", "probs", "log_probs", "logits"]),
    (lambda: cp.independent_set.Evaluator().update("a", edge_index=EDGES, logits=np.zeros((2, 3))),
     cp.InputError, ['axis="samples"', 'axis="steps"']),
    (lambda: cp.segmentation.Evaluator(2).update("a", truth=[[7]], pred=[[0]]), cp.InputError,
     ["7", "x = 0", "labels", "ignore=[7]"]),
    (lambda: cp.segmentation.Evaluator(2).update_batch(["a"], truth=[[[0]], [[0]]], pred=[[[0]]]),
     cp.InputError, ["names has 1", "truth 2"]),
    (lambda: cp.independent_set.q_hat([0.0], [1], kind="set"), cp.UsageError, ["kind", "set"]),
    (lambda: cp.independent_set.loss_and_grad([0.0], [[], []], [1], pos_weight="x"), cp.InputTypeError,
     ["pos_weight", "number"]),
    (lambda: cp.robustness.edge_feature_diff([[0.0]], [[], []], range=(0,)), cp.InputTypeError,
     ["range has two ends", "1"]),
    (lambda: cp.training.measure([0.5], tresh=3), TypeError, ["tresh"]),
    (lambda: cp.training.measure([0.5], metrik="a"), cp.UnknownArgumentError, ["metrik", "metric"]),
    (lambda: cp.segmentation.evaluate(trhuth="gt"), cp.UnknownArgumentError, ["trhuth", "truth"]),
    (lambda: cp.explanation.Evaluator().update_batch(["a"], y_hatt=[1]), cp.UnknownArgumentError,
     ["y_hatt", "did you mean y_hat?"]),
    (lambda: cp.robustness.Evaluator().update_batch(["a"], claen=[1]), cp.UnknownArgumentError,
     ["claen", "did you mean clean?"]),
    (lambda: cp.explanation.score(y_hatt=[1]), cp.UnknownArgumentError, ["y_hatt", "did you mean y_hat?"]),
    (lambda: cp.segmentation.evaluate(truth="missing/", pred="missing/", classes=2), cp.FileError,
     ["truth", "missing"]),
    (lambda: cp.segmentation.evaluate(), cp.UsageError, ["classes"]),
    (lambda: cp.segmentation.evaluate(classes=2), cp.UsageError, ["truth", "pred"]),
    (lambda: cp.independent_set.evaluate(), cp.UsageError, ["files or folders", "graph"]),
    (lambda: cp.explanation.evaluate(), cp.UsageError, ["inputs"]),
    (lambda: cp.training.evaluate(), cp.UsageError, ["files or folders"]),
    (lambda: cp.robustness.evaluate(), cp.UsageError, ["graph", "model"]),
    (lambda: cp.segmentation.Evaluator(2).report()["mioo"], cp.UnknownMetricError, ["mioo", "miou"]),
    (lambda: cp.segmentation.Evaluator(2).report().to_json(select=["mioo"]), cp.UnknownMetricError,
     ["mioo", "miou"]),
    (lambda: cp.segmentation.Evaluator(2).report().to_json(select=3), cp.InputTypeError, ["select", "int"]),
    (lambda: cp.explain("mioo"), cp.UnknownMetricError, ["mioo", "miou"]),
    (lambda: cp.explain("accuracy"), cp.UnknownMetricError,
     ["independent_set.accuracy", "explanation.accuracy"]),
    (lambda: cp.metrics("sgementation"), cp.UsageError, ["family", "sgementation", "segmentation"]),
    (lambda: cp.metrics(3), cp.InputTypeError, ["family", "int"]),
    (lambda: cp.load("missing.state"), cp.FileError, ["path_or_bytes", "missing.state"]),
    (lambda: cp.load(None), cp.InputTypeError, ["path_or_bytes", "NoneType"]),
    (lambda: cp.verify("missing.json"), cp.FileError, ["path", "missing.json"]),
    (lambda: cp.serve("missing"), cp.FileError, ["folder", "missing"]),
    (lambda: cp.demo(3), cp.InputTypeError, ["out", "int"]),
    (lambda: cp.demo(seed=-1), cp.UsageError, ["seed", "-1"]),
    (lambda: cp.segmentation.fit("missing.toml"), cp.FileError, ["config", "missing.toml"]),
    (lambda: cp.segmentation.fit("missing.toml", progress=3), cp.InputTypeError, ["progress", "int"]),
    (lambda: cp.merge([]), cp.UsageError, ["states"]),
    (lambda: cp.compare(*PAIR, resamples="x"), cp.InputTypeError, ["resamples", "str"]),
    (lambda: cp.compare(*PAIR, seed=-1), cp.UsageError, ["seed", "-1", "0 or more"]),
    (lambda: cp.compare(*PAIR, confidence=2), cp.UsageError, ["confidence", "2"]),
    (lambda: cp.compare(*PAIR, interval="x"), cp.UsageError, ["interval", "expanded"]),
    (lambda: cp.compare(*PAIR, threads=0), cp.UsageError, ["threads", "0"]),
    (lambda: PAIR[0].report(cluster_by="x"), cp.UsageError, ["cluster_by", "x", "regex:PATTERN"]),
    (lambda: PAIR[0].report(interval="x"), cp.UsageError, ["interval", "expanded"]),
    (lambda: PAIR[0].report(bootstrap=-1), cp.UsageError, ["bootstrap", "-1"]),
    (lambda: cp.segmentation.Evaluator.from_bytes(b"junk"), cp.FormatError, ["state", "save"]),
    (lambda: cp.segmentation.Evaluator(2).update(3, truth=[[0]], pred=[[0]]), cp.InputTypeError,
     ["name", "int"]),
    (lambda: cp.segmentation.iou([[0]], [[0]], classes=2, ignore="x"), cp.InputError,
     ["labels['ignore']", "x"]),
    (lambda: cp.segmentation.boundary_counts([[0]], [[0]], classes=2, thickness=-1), cp.InputError,
     ["boundary['thickness']", "-1"]),
    (lambda: cp.independent_set.min_degree(EDGES, "x"), cp.InputTypeError, ["num_nodes", "str"]),
    (lambda: cp.independent_set.upper_bound(EDGES, -1), cp.UsageError, ["num_nodes", "-1"]),
    (lambda: cp.training.measure([[1], [1, 2]]), cp.InputTypeError, ["values", "different lengths"]),
    (lambda: cp.training.evaluate("x", metric="a", progress=lambda: 0, group_by=3), cp.UsageError,
     ["group_by", "3"]),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(CALLS)))
def test_a_wrong_call_names_the_argument_the_value_and_the_range(at: int) -> None:
    call, kind, words = CALLS[at]
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert not RUSTY.search(text), text


def test_short_forms_say_what_long_ones_say() -> None:
    short, long = cp.segmentation.Evaluator, cp.segmentation.Evaluator
    same = [
        (short(2), long({"original": 2})),
        (short(np.int64(2)), long({"original": 2})),
        (short(["road", "sky"]), long({"original": ["road", "sky"]})),
        (short({1: "sky", 0: "road"}), long({"original": {"0": "road", "1": "sky"}})),
        (short({"original": 2, "ignore": 255}), long({"original": 2, "ignore": [255]})),
        (short({"original": ["a", "b"], "ignore": "b"}), long({"original": ["a", "b"], "ignore": ["b"]})),
        (short(2, bins=15), long(2, bins={"count": 15})),
        (short(2, measure="overlap"), long(2, measure=["overlap"])),
        (short(2, unpredicted="wrong"), long({"original": 2, "unpredicted": "wrong"})),
    ]
    for one, other in same:
        assert one == other
    assert short(2, bins=15).report().units == 0


def test_errors_are_of_the_documented_classes() -> None:
    for name in ("UsageError", "InputError", "FormatError", "FileError", "DuplicateError", "ConflictError"):
        assert issubclass(getattr(cp, name), ValueError)
    assert issubclass(cp.ProtocolMismatchError, ValueError)
    assert issubclass(cp.FileError, OSError)
    assert issubclass(cp.InputTypeError, TypeError)
    assert issubclass(cp.UnknownArgumentError, cp.UsageError)
    assert issubclass(cp.UnknownArgumentError, TypeError)
    assert issubclass(cp.UnknownMetricError, KeyError)
    assert issubclass(cp.InternalError, cp.CalipersError)

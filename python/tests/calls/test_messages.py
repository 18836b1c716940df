"""What errors say: the argument, what was found, and what is allowed, in Python's words."""

import functools
import inspect
import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calipers as cp

EDGES = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
SEG = {"truth": "gt", "pred": "out", "classes": 3}
WRONG: list[Any] = [
    "x",
    -1,
    0,
    2.5,
    10**30,
    float("nan"),
    float("inf"),
    True,
    [],
    [1, "a"],
    {},
    {"x": 1},
    b"b",
    object(),
]
"""What every option is given in turn."""

RUSTY = re.compile(
    r"--[a-z]|`calipers |serde|expected struct|invalid (type|value|digit|float)|\b[ui](8|16|32|64)\b|usize"
    r"|\bf(32|64)\b(?! \[)|ParseInt|unwrap|panicked"
)
"""What no message says; arrays are described as `f64 [1,2]`."""

FOREIGN = re.compile(
    r"--[a-z]|`calipers |serde|expected struct|invalid (type|value|digit|float)|usize|ParseInt|unwrap"
    r"|panicked|os error"
)
"""The same where types of arrays are named."""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Make inputs of every family in the working directory."""
    monkeypatch.chdir(tmp_path)
    for kind in ("gt", "out"):
        (tmp_path / kind).mkdir()
        np.save(tmp_path / kind / "u.npy", np.array([[0, 1, 2]], np.uint8))
    np.savez("g.npz", edge_index=EDGES, logits=[0.5, -1.0, 2.0], labels=[1, 0, 1])
    pathlib.Path("masks.jsonl").write_text('{"unit": "a", "pred_mask": [0.9], "target_mask": [1]}\n')
    pathlib.Path("run.csv").write_text("epoch,F1\n0,0.5\n1,0.95\n")
    np.savez("run.npz", **{"clean": [[1.0], [2.0]], "attacked_0.05": [[1.0], [4.0]]})
    return tmp_path


def said(call: Callable[[], Any]) -> str | None:
    """Return the message of a call, or nothing where it is accepted."""
    try:
        call()
    except cp.CalipersError as error:
        return str(error)
    except TypeError as error:
        # Python's own, for an argument that a signature does not have.
        return str(error) if " argument" in str(error) and "()" in str(error) else f"invalid type: {error}"
    return None


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
def test_every_option_that_is_documented_is_known(family: str, folder: pathlib.Path) -> None:
    evaluate, inputs, fine = FILES[family]
    for name in options(family):
        message = said(lambda: evaluate(*inputs, **{**fine, name: object()}))  # noqa: B023
        assert message is not None
        assert name in message
        assert "no such argument" not in message, message


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
     ["hist_range", "1"]),
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


def made(family: str) -> Any:
    """Return an evaluator with a unit."""
    acc = getattr(cp, family).Evaluator(**({"labels": 2} if family == "segmentation" else {}))
    acc.update("a", **UNITS[family])
    return acc


TWO = [[0, 1]]
PROBS = [[[0.2]], [[0.8]]]
ARGUMENTS = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
UNITS: dict[str, dict[str, Any]] = {
    "segmentation": {"truth": TWO, "pred": TWO, "kind": "labels"},
    "independent_set": {"edge_index": EDGES, "logits": [0.1, 0.2, 0.3], "labels": [1, 0, 1]},
    "explanation": {"pred_mask": [0.1, 0.9], "target_mask": [0, 1]},
    "training": {"values": [0.1, 0.95]},
    "robustness": {"clean": [[1.0], [2.0]], "attacked": {0.1: [[1.0], [3.0]]}},
}
BATCHES: dict[str, dict[str, Any]] = {
    "segmentation": {"truth": [TWO], "pred": [TWO]},
    "independent_set": UNITS["independent_set"],
    "explanation": {"pred_mask": [[0.1, 0.9]], "target_mask": [[0, 1]]},
    "training": {"values": [[0.1, 0.95]]},
    "robustness": {"clean": [[[1.0]]], "attacked": {0.1: [[[2.0]]]}},
}
NODES: dict[str, Any] = {"train": [0, 1], "test": [2]}
PATH: dict[str, Any] = {"graph": EDGES, "features": np.eye(3), "labels": [0, 1, 0], "splits": NODES}
SMALL: dict[str, Any] = {"penalty": "l1", "weights": "exact", "epochs": 1}
MODEL = cp.rung.train(**PATH, **SMALL)
SCORES: dict[str, Any] = {"clean": [[1.0], [2.0]], "attacked": [[1.0], [3.0]]}
FUNCTIONS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    *((function, {"pred": TWO, "truth": TWO, "classes": 2}) for function in (
        cp.segmentation.confusion, cp.segmentation.iou, cp.segmentation.miou,
        cp.segmentation.boundary_counts, cp.segmentation.contour_counts)),
    (cp.segmentation.calibration, {"pred": PROBS, "truth": [[1]], "classes": 2, "kind": "probs"}),
    (cp.segmentation.fuse, {"arrays": PROBS, "heads": [{"name": "a", "kind": "probs"}], "labels": 2}),
    (cp.segmentation.fit, {"config": "missing.toml"}),
    (cp.independent_set.greedy_decode, {"scores": [0.1, 0.2, 0.3], "edge_index": EDGES}),
    (cp.independent_set.min_degree, {"edge_index": EDGES, "num_nodes": 3}),
    (cp.independent_set.swap_search, {"start": [1, 0, 0], "edge_index": EDGES}),
    (cp.independent_set.upper_bound, {"edge_index": EDGES, "num_nodes": 3}),
    (cp.independent_set.is_independent, {"set": [1, 0, 0], "edge_index": EDGES}),
    (cp.independent_set.loss_and_grad, {"logits": [0.0] * 3, "edge_index": EDGES, "labels": [1, 0, 1]}),
    (cp.independent_set.q_hat, {"scores": [0.1, 0.2], "labels": [1, 0]}),
    (cp.explanation.fidelity, {"y_hat": [0, 1], "y_sub": [0, 0]}),
    (cp.explanation.agreement, {"pred_mask": [0.1, 0.9], "target_mask": [0, 1]}),
    (cp.explanation.unfaithfulness, {"y_hat": [[0.5, 0.5]], "y_sub": [[0.2, 0.8]], "scores": "probs"}),
    (cp.explanation.characterization_score, {"pos_fidelity": [0.5], "neg_fidelity": [0.5]}),
    (cp.explanation.fidelity_curve_auc, {"pos_fidelity": [0.5, 1], "neg_fidelity": [0.5, 0], "x": [0, 1]}),
    (cp.training.measure, {"values": [0.1, 0.95]}),
    (cp.robustness.estimation_bias, SCORES),
    (cp.robustness.bias_curve, {"clean": [[1.0]], "attacked": {0.1: [[2.0]]}}),
    (cp.robustness.robust_accuracy, {"logits": [[0.1, 0.2]], "labels": [1], "test_idx": [0]}),
    (cp.robustness.edge_feature_diff, {"features": [[0.0], [1.0]], "edge_index": [[0, 1], [1, 0]]}),
    (cp.metrics, {}), (cp.explain, {"id": "miou"}), (cp.load, {"path_or_bytes": "missing"}),
    (cp.verify, {"path": "missing"}), (cp.merge, {"states": [made("training")]}),
    (cp.to_json, {"reports": [made("training").report()]}),
    (functools.partial(cp.compare, made("training"), made("training")), {"resamples": 10}),
    (cp.Report.from_json, {"text": "x"}),
    (cp.rung.train, {**PATH, **SMALL}), (cp.rung.load, {"path": "missing.pt"}),
    (cp.rung.attack, {**PATH, "model": MODEL, "budgets": [0.5], "method": "random"}),
    (cp.rung.forward, {**PATH, "model": MODEL, "flips": {0.5: [[0, 2]]}}),
    (cp.rung.reproduce, {**PATH, "out": "missing/folder", "splits": "stratified:1", "steps": 1}),
    *((made(family).report, {"bootstrap": 5}) for family in UNITS),
    *((getattr(made("segmentation").report(), name), {}) for name in (
        "to_json", "to_csv", "to_markdown", "to_latex", "to_html", "per_class", "per_unit")),
    (made("segmentation").report().array, {"id": "miou"}),
    (made("segmentation").save, {"path": "missing/x.state"}),
    (cp.segmentation.Evaluator.from_bytes, {"data": b"x"}),
    (made("segmentation").merge, {"other": made("segmentation")}),
    (made("segmentation").update_confusion, {"name": "b", "confusion": [[1, 0], [0, 1]]}),
    *((made(family).update, {("run" if family == "robustness" else "name"): "b", **UNITS[family]})
      for family in UNITS),
    *((made(family).update_batch, {"names": ["b"], **BATCHES[family]}) for family in UNITS),
]  # fmt: skip


def options_of(function: Callable[..., Any]) -> list[str]:
    """Return the parameters of a function, and the options that its docstring lists."""
    found = inspect.signature(function).parameters.values()
    names = [one.name for one in found if one.kind in ARGUMENTS]
    text = (inspect.getdoc(getattr(function, "func", function)) or "").partition("The options")[2]
    return sorted({*names, *re.findall(r"`(\w+)`", text.partition(">>>")[0])} - {"train", "load"})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("at", range(len(FUNCTIONS)))
def test_no_argument_of_a_function_answers_in_another_language(at: int, folder: pathlib.Path) -> None:
    function, fine = FUNCTIONS[at]
    for name in options_of(function):
        for value in WRONG:
            # Anything else than an error of the package, or a wrong call, fails this test by itself.
            message = said(lambda: function(**{**fine, name: value}))  # noqa: B023
            if message is not None:
                assert not FOREIGN.search(message), f"{name}={value!r}: {message}"

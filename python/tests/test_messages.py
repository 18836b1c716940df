"""What errors say: the argument, what was found, and what is allowed, in Python's words."""

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
        return str(error) if "argument" in str(error) else f"invalid type: {error}"
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

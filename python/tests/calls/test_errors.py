"""Errors have the texts of the command line and the classes of Python."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers._calipers import run_cli

EDGES = np.array([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"logits": [0.5, np.nan]}, ["not a number", "node 1"]),
        ({"logits": [1, 2]}, ["'logits' has a type", "i64"]),
        ({"logits": [0.5, 1.0], "labels": [0, 2]}, ["neither 0 nor 1", "node 1", "soft labels"]),
        ({"logits": [[0.5, 1.0]]}, ["two-dimensional", 'axis="steps"']),
        ({"logits": [0.5]}, ["out of range"]),
        ({"logits": [0.5, 1.0], "probs": [0.5, 1.0]}, ["several kinds of scores"]),
        ({"probs": [0.5, 1.0]}, ["another kind", "probs", "logits"]),
        ({"logits": [0.5, 1.0], "optimum": 3}, ["optimum"]),
    ],
)
def test_bad_graphs_are_refused_with_the_place(arrays: dict[str, Any], words: list[str]) -> None:
    acc = cp.independent_set.Evaluator()
    with pytest.raises(cp.CalipersError) as caught:
        acc.update("g", edge_index=EDGES, **arrays)
    for word in words:
        assert word in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert len(acc) == 0


@pytest.mark.parametrize(
    ("truth", "pred", "words"),
    [
        ([[0, 7]], [[0, 1]], ["7", "x = 1"]),
        ([[0, 1]], [[0], [1]], ["differ in size"]),
        ([[0.0, 1.0]], [[0, 1]], ["float array"]),
        ([[0, 1]], [[0.5, 1.0]], ["float array", 'kind="logits"']),
        ([0, 1], [[0, 1]], ["two axes"]),
    ],
)
def test_bad_images_are_refused_with_the_place(truth: Any, pred: Any, words: list[str]) -> None:
    with pytest.raises(cp.InputError) as caught:
        cp.segmentation.miou(pred, truth, classes=2)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"boundary": {"thicknes": 2}}, ["thicknes", "thickness"]),
        ({"preset": "strcit"}, ["strcit", "strict"]),
        ({"bins": {"count": 0}}, ["0"]),
    ],
)
def test_bad_options_are_answered_with_the_nearest_word(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(cp.CalipersError) as caught:
        cp.segmentation.Evaluator(labels={"original": 2}, **options)
    for word in words:
        assert word in str(caught.value)


def test_options_that_contradict_are_wrong_usage() -> None:
    with pytest.raises(cp.UsageError, match="does not go with this preset"):
        cp.independent_set.Evaluator(preset="document", decoders=["swap"])
    with pytest.raises(cp.UsageError, match="min-degree"):
        cp.independent_set.Evaluator(baseline="nonsense")  # type: ignore[arg-type]


def test_the_text_is_that_of_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    logits = np.array([0.5, np.inf])
    np.savez(tmp_path / "g.npz", edge_index=EDGES, logits=logits)
    assert run_cli(["calipers", "independent-set", str(tmp_path / "g.npz")]) == 1
    told = capfd.readouterr().err.removeprefix("error: ").rstrip("\n").splitlines()
    with pytest.raises(cp.InputError) as caught:
        cp.independent_set.Evaluator().update("g", edge_index=EDGES, logits=logits)
    assert str(caught.value).splitlines() == [line for line in told if "file:" not in line]

"""What is missing where a library is not installed, and the extra that brings it."""

import builtins
import importlib
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers._extras import library

ROOT = pathlib.Path(__file__).parents[3]


def report() -> cp.Report:
    acc = cp.training.Evaluator()
    acc.update("cfg/0", [0.5, 0.95])
    return acc.report()


def model(graph: Any, features: Any) -> Any:
    return features


EDGE = np.array([[0, 1], [1, 0]])
NEEDS: list[tuple[str, str, Callable[[], Any]]] = [
    ("pandas", "pandas", lambda: report().to_pandas()),
    ("pandas", "pandas", lambda: report().per_class()),
    ("polars", "polars", lambda: report().to_polars()),
    ("matplotlib", "plot", lambda: report().plot("survival")),
    ("torch", "torch", lambda: cp.independent_set.loss([0.0, 0.0], EDGE, [1, 0])),  # type: ignore[arg-type]
    ("torch", "torch", lambda: cp.independent_set.losses([0.0, 0.0], EDGE, [1, 0])),  # type: ignore[arg-type]
    ("torch", "torch", lambda: cp.rung.compute_estimation_bias(model, EDGE, [[1.0], [2.0]], EDGE)),
    ("ray", "ray", lambda: cp_ray().merged_by_tasks([b"x"])),
    ("torchmetrics", "torchmetrics", lambda: importlib.import_module("calipers.torchmetrics")),
    ("torchmetrics", "torchmetrics", lambda: importlib.import_module("calipers.compat.torchmetrics")),
    ("monai", "monai", lambda: importlib.import_module("calipers.compat.monai")),
    ("lightning", "lightning", lambda: importlib.import_module("calipers.callbacks").Lightning),
    ("transformers", "transformers", lambda: importlib.import_module("calipers.callbacks").HuggingFace),
    ("keras", "keras", lambda: importlib.import_module("calipers.callbacks").Keras),
]
"""A library, the extra that installs it, and a call that needs it."""


def cp_ray() -> Any:
    return importlib.import_module("calipers.ray")


@pytest.mark.parametrize("at", range(len(NEEDS)))
def test_a_missing_library_is_named_with_its_extra(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name, extra, call = NEEDS[at]
    gone = (name, "pytorch_lightning") if name == "lightning" else (name,)
    imported = builtins.__import__

    def without(module: str, *rest: Any, **named: Any) -> Any:
        if module.partition(".")[0] in gone:
            raise ModuleNotFoundError(f"No module named '{module}'", name=module)
        return imported(module, *rest, **named)

    of_ours = ("calipers.torchmetrics", "calipers.compat", "calipers.callbacks", "calipers._torch")
    for loaded in list(sys.modules):
        if loaded.startswith(of_ours):
            monkeypatch.delitem(sys.modules, loaded)
        elif loaded.partition(".")[0] in gone:
            monkeypatch.setitem(sys.modules, loaded, None)
    for one in gone:
        monkeypatch.setitem(sys.modules, one, None)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=rf"calipers\[{extra}\]") as caught:
        call()
    assert name in str(caught.value)


def test_every_extra_that_is_named_is_one() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    table = project.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = ", table, re.MULTILINE))
    assert {extra for _, extra, _ in NEEDS} <= extras
    named = set()
    for path in [*(ROOT / "python/calipers").rglob("*.py"), *(ROOT / "docs").glob("*.md")]:
        named |= set(re.findall(r"calipers\[(\w+)\]", path.read_text()))
    assert named <= extras
    assert named


def test_a_library_that_is_there_is_returned() -> None:
    assert library("json", "a test").loads("1") == 1

"""Every argument of every public call is given nonsense: what comes back is an error in Python's words."""

import ast
import functools
import inspect
import pathlib
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from wrong_calls import EDGES, FOREIGN, WRONG, make_inputs, said

import calipers as cp


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Make inputs of every family in the working directory."""
    monkeypatch.chdir(tmp_path)
    make_inputs(tmp_path)
    return tmp_path


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
REPORT = made("segmentation").report()
COMPARISON = cp.compare(made("training"), made("training"), resamples=10)
SCORES: dict[str, Any] = {"clean": [[1.0], [2.0]], "attacked": [[1.0], [3.0]]}
STUDY = {"demo": {"T5": {"runs": {"0": {"name": "T5_0"}}}}}
TABLES = cp.training.tables(runs=STUDY)
NO_RUNS = cp.training.Runs([], [])

Calls = list[tuple[Callable[..., Any], dict[str, Any]]]

PURE: Calls = [
    *((function, {"pred": TWO, "truth": TWO, "classes": 2}) for function in (
        cp.segmentation.confusion, cp.segmentation.iou, cp.segmentation.miou,
        cp.segmentation.boundary_counts, cp.segmentation.contour_counts)),
    (cp.segmentation.calibration, {"pred": PROBS, "truth": [[1]], "classes": 2, "kind": "probs"}),
    (cp.segmentation.fuse, {"arrays": PROBS, "heads": [{"name": "a", "kind": "probs"}], "labels": 2}),
    (cp.segmentation.surface_distances, {"pred": TWO, "truth": TWO}),
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
    (cp.explanation.score, {"pred_mask": [0.1, 0.9], "target_mask": [0, 1]}),
    (cp.training.measure, {"values": [0.1, 0.95]}),
    (cp.robustness.estimation_bias, SCORES),
    (cp.robustness.bias_curve, {"clean": [[1.0]], "attacked": {0.1: [[2.0]]}}),
    (cp.robustness.robust_accuracy, {"logits": [[0.1, 0.2]], "labels": [1], "test_idx": [0]}),
    (cp.robustness.edge_feature_diff, {"features": [[0.0], [1.0]], "edge_index": [[0, 1], [1, 0]]}),
]  # fmt: skip
FILED: Calls = [
    (cp.segmentation.evaluate, {"truth": "gt", "pred": "out", "classes": 3}),
    *((functools.partial(function, file), {"metric": "F1"}) for function, file in (
        (cp.training.evaluate, "run.csv"), (cp.training.read, "run.csv"), (cp.training.tables, "run.csv"))),
    (functools.partial(cp.training.keys, "run.csv"), {}),
    (functools.partial(cp.training.extract, "run.csv"), {}),
    (functools.partial(cp.independent_set.evaluate, "g.npz"), {}),
    (functools.partial(cp.explanation.evaluate, "masks.jsonl"), {}),
    (functools.partial(cp.robustness.evaluate, "run.npz"), {}),
    (cp.metrics, {}), (cp.explain, {"id": "miou"}), (cp.load, {"path_or_bytes": "missing"}),
    (cp.verify, {"path": "missing"}), (cp.serve, {"folder": "missing"}),
    (cp.merge, {"states": [made("training")]}),
    (cp.to_json, {"reports": [made("training").report()]}),
    (functools.partial(cp.compare, made("training"), made("training")), {"resamples": 10}),
    (cp.rung.train, {**PATH, **SMALL}), (cp.rung.load, {"path": "missing.pt"}),
    (cp.rung.attack, {**PATH, "model": MODEL, "budgets": [0.5], "method": "random"}),
    (cp.rung.forward, {**PATH, "model": MODEL, "flips": {0.5: [[0, 2]]}}),
    (cp.rung.reproduce, {**PATH, "out": "missing/folder", "splits": "stratified:1", "steps": 1}),
]  # fmt: skip
METHODS: Calls = [
    (cp.Report.from_json, {"text": "x"}),
    *((made(family).report, {"bootstrap": 5}) for family in UNITS),
    *((getattr(REPORT, name), {}) for name in (
        "to_json", "to_csv", "to_markdown", "to_latex", "to_html", "per_class", "per_unit", "to_pandas",
        "to_polars")),
    *((getattr(COMPARISON, name), {}) for name in (
        "to_json", "to_csv", "to_markdown", "to_latex", "to_html", "to_pandas")),
    (COMPARISON.figure, {"name": "none"}),
    *((getattr(TABLES.strict, name), {}) for name in ("to_csv", "to_markdown", "to_latex", "to_pandas")),
    *((getattr(NO_RUNS, name), {}) for name in ("to_pandas", "to_polars")),
    (TABLES.write, {"prefix": "missing/t"}),
    (REPORT.array, {"id": "miou"}), (REPORT.figure, {"name": "iou"}), (REPORT.plot, {"name": "iuo"}),
    (MODEL.save, {"path": "missing/model.pt"}), (MODEL.get_aggregated_features, {"A": EDGES, "X": np.eye(3)}),
    (made("segmentation").save, {"path": "missing/x.state"}),
    (made("segmentation").per_unit, {}), (made("segmentation").to_bytes, {}),
    (cp.segmentation.Evaluator.from_bytes, {"data": b"x"}),
    (made("segmentation").merge, {"other": made("segmentation")}),
    (made("training").merge, {"other": made("training")}),
    (made("segmentation").update_confusion, {"name": "b", "confusion": [[1, 0], [0, 1]]}),
    *((made(family).update, {("run" if family == "robustness" else "name"): "b", **UNITS[family]})
      for family in UNITS),
    *((made(family).update_batch, {"names": ["b"], **BATCHES[family]}) for family in UNITS),
]  # fmt: skip
FUNCTIONS = [*PURE, *FILED, *METHODS]


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


def torch_calls(torch: Any) -> Calls:
    """Give the calls that need torch."""
    logits: dict[str, Any] = {"logits": torch.zeros(3), "edge_index": EDGES, "labels": [1, 0, 1]}
    model: dict[str, Any] = {"model": lambda graph, features: features, "X": np.eye(3)}
    path = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    tested: dict[str, Any] = {"y": [0, 1, 0], "test_idx": [0, 2]}
    rung = cp.rung
    return [
        (cp.independent_set.loss, logits), (cp.independent_set.losses, logits),
        (rung.compute_estimation_bias, {**model, "A_clean": path, "A_attacked": path}),
        (rung.compute_bias_curve, {**model, "A_clean": path, "attacked_graphs_by_budget": {0.1: path}}),
        (rung.compute_edge_feature_diff_distribution, {**model, "A": path}),
        (rung.compute_robust_accuracy, {**model, "A_attacked": path, **tested}),
        (rung.compute_clean_and_attacked_accuracy, {**model, "A_clean": path, "A_attacked": path, **tested}),
        (MODEL.state_dict, {}),
    ]  # fmt: skip


@pytest.mark.compat
@pytest.mark.filterwarnings("ignore")
def test_no_argument_of_a_function_of_tensors_answers_in_another_language(folder: pathlib.Path) -> None:
    for function, fine in torch_calls(pytest.importorskip("torch")):
        for name in options_of(function):
            # Devices are a matter of torch.
            for value in WRONG if name != "device" else []:
                message = said(lambda: function(**{**fine, name: value}))  # noqa: B023
                assert message is None or not FOREIGN.search(message), (
                    f"{function} {name}={value!r}: {message}"
                )


MODULES = (cp, cp.explanation, cp.independent_set, cp.robustness, cp.rung, cp.segmentation, cp.training)


def public() -> Iterator[tuple[str, Any]]:
    """Give every public function of the modules, and every public method of their classes."""
    for module in MODULES:
        for name in module.__all__:
            one = getattr(module, name)
            if isinstance(one, types.FunctionType):
                yield f"{module.__name__}.{name}", one
            elif isinstance(one, type) and not issubclass(one, Exception | str):
                own = [base for base in one.__mro__ if base.__module__.startswith("calipers")]
                for method, function in ((key, of) for base in own for key, of in vars(base).items()):
                    function = getattr(function, "__func__", function)
                    if isinstance(function, types.FunctionType) and not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", function


def plainly(function: Any) -> Any:
    """Return the function below a method or a call with arguments."""
    function = getattr(function, "func", function)
    return getattr(function, "__func__", function)


@pytest.mark.compat
def test_every_public_call_is_given_nonsense() -> None:
    calls = [*FUNCTIONS, *torch_calls(pytest.importorskip("torch"))]
    # What makes a whole data set is asked in the table of wrong calls.
    asked = {plainly(function) for function, _ in calls} | {cp.demo}
    assert not [name for name, function in public() if function not in asked]


def test_no_text_of_the_package_names_an_option() -> None:
    source = pathlib.Path(cp.__file__).parent
    checked = 0
    for path in source.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documents = {
            ast.get_docstring(node, clean=False)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        }
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        for text in texts:
            if isinstance(text, str) and text not in documents:
                checked += 1
                assert not re.search(r"--[a-z]|`calipers |serde", text), f"{path}: {text}"
    assert checked > 1000

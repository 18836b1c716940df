"""How far an attack moves a graph model: bias, differences along edges, robust accuracy.

>>> import calipers as cp
>>> cp.robustness.estimation_bias(clean=[[3.0, 0.0], [0.0, 4.0]], attacked=[[3.0, 0.0], [0.0, 2.0]])
EstimationBias(total=4.0, mean=2.0, per_node=array([0., 4.]))
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers import _calipers, _files, _graphs
from calipers._arrays import ArrayLike
from calipers._errors import InputError, InputTypeError, UsageError
from calipers._evaluator import EvaluatorBase
from calipers._files import Path
from calipers._graphs import Graph

__all__ = [
    "EdgeDifferences",
    "EstimationBias",
    "Evaluator",
    "bias_curve",
    "edge_feature_diff",
    "estimation_bias",
    "evaluate",
    "robust_accuracy",
]

Budget = str | float
"""A share of the clean edges; text keeps its decimals as they are written."""
Features = Literal["logits", "other"]
Nodes = Literal["all", "test", "not-train"]
Preset = Literal["strict", "document", "rung-fork"]
ByBudget = ArrayLike | Mapping[Any, Any]
"""One array for the only budget, or an array for each budget."""


class EstimationBias(NamedTuple):
    """The squared distance between two arrays of features."""

    total: float
    mean: float
    per_node: npt.NDArray[np.float64]


class EdgeDifferences(NamedTuple):
    """How much the ends of edges differ: densities, the edges of their bins, and the mean."""

    hist_values: npt.NDArray[np.float64]
    bin_edges: npt.NDArray[np.float64]
    mean_diff: float


class Evaluator(EvaluatorBase):
    """Measures attacks, run by run; takes the options of the command line.

    >>> acc = Evaluator()
    >>> acc.update("split0", clean=[[1.0], [2.0]], attacked={"0.05": [[1.0], [4.0]], "0.1": [[0.0], [5.0]]})
    >>> acc.report()["bias_curve"]["0.1"]["bias_total"]
    10.0
    """

    family = "robustness"

    def __init__(
        self,
        *,
        preset: Preset = "strict",
        bins: int = 50,
        hist_range: tuple[float, float] | None = None,
        nodes: Nodes = "all",
        ddof: int | None = None,
        cutoff: float | None = None,
        features: Features = "logits",
        model_name: str | None = None,
    ) -> None:
        """Say how histograms are made, which nodes count, what the features are, and of which model.

        `ddof` is 1 unless given, 0 in preset `rung-fork`.
        """
        options = {
            "preset": preset,
            "bins": bins,
            "hist_range": None if hist_range is None else [float(end) for end in hist_range],
            "nodes": nodes,
            "ddof": ddof,
            "cutoff": cutoff,
            "features": features,
            "model_name": model_name,
        }
        given = {key: value for key, value in options.items() if value is not None}
        try:
            text = json.dumps(given, allow_nan=False)
        except ValueError as error:
            raise UsageError("options are finite numbers\n    found: " + repr(given)) from error
        self._state = _calipers.robustness_new(text)

    def update(
        self,
        run: str,
        *,
        clean: ArrayLike,
        attacked: ByBudget,
        budget: Budget | None = None,
        attack: str | None = None,
        labels: ArrayLike | None = None,
        test_idx: ArrayLike | None = None,
        test_mask: ArrayLike | None = None,
        train_idx: ArrayLike | None = None,
        train_mask: ArrayLike | None = None,
        val_idx: ArrayLike | None = None,
        val_mask: ArrayLike | None = None,
        clean_logits: ArrayLike | None = None,
        attacked_logits: ByBudget | None = None,
        edge_index: Graph | None = None,
        edges: ArrayLike | None = None,
        edge_index_attacked: ByBudget | None = None,
        edges_attacked: ByBudget | None = None,
        flips: ByBudget | None = None,
    ) -> None:
        """Measure one run: features on the clean graph and, by budget, on attacked ones.

        What is given by budget is a mapping from budgets to arrays, or one array with `budget`. A unit
        `RUN/BUDGET` (`RUN/ATTACK:BUDGET` with `attack`) that was measured before raises `DuplicateError`.
        """
        given: dict[str, Any] = {
            "clean": clean, "labels": labels, "clean_logits": clean_logits,
            "test_idx": test_idx, "test_mask": test_mask, "train_idx": train_idx, "train_mask": train_mask,
            "val_idx": val_idx, "val_mask": val_mask, "edges": edges,
            "edge_index": None if edge_index is None else _graphs.edges(edge_index).edge_index,
        }  # fmt: skip
        for key, by_budget in (
            ("attacked", attacked), ("attacked_logits", attacked_logits), ("flips", flips),
            ("edge_index_attacked", edge_index_attacked), ("edges_attacked", edges_attacked),
        ):  # fmt: skip
            found = _by_budget(key, by_budget, budget)
            if key == "edge_index_attacked":
                found = {name: _graphs.edges(graph, key).edge_index for name, graph in found.items()}
            given.update(found)
        _calipers.robustness_update(self._state, run, attack, given)


def evaluate(*inputs: Path, **options: Any) -> Evaluator:
    """Measure the runs that files hold, as `calipers robustness` does with the same words.

    `inputs` are files, folders of them, or a configuration. The options:

    * arrays: `attack`, `budget`
    * measuring: `preset`, `bins`, `hist_range`, `nodes`, `ddof`, `cutoff`, `features`
    * a model: `graph`, `features_file`, `labels_file`, `prepare`, `model`, `trained_on`, `run`, `splits`,
      `split`, `seeds`, `shares`, `penalty`, `weights`, `gamma`, `lambda_hat`, `layers`, `scad_a`,
      `scad_scale`, `attacked`, `flips` (files by budget), `budgets`
    * `per_node`, a file with one row per node that is written
    * work: `threads`, `shard`, `strict`, `progress`; for the report: `bootstrap`, `confidence`, `seed`

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "split0.npz"
    >>> np.savez(path, **{"clean": [[1.0], [2.0]], "attacked_0.05": [[1.0], [4.0]]})
    >>> evaluate(path).report()["bias_curve"]["0.05"]["bias_total"]
    4.0
    """
    return _files.evaluate(Evaluator, inputs, options)[0]


def _by_budget(key: str, given: Any, budget: Budget | None) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if budget is None:
            raise UsageError(f"'{key}' is an array without a budget\n    help: give 'budget', or a mapping")
        given = {budget: given}
    found: dict[str, Any] = {}
    for one, array in given.items():
        found[f"{key}_{_text(one)}"] = array
    return found


def _text(budget: Any) -> str:
    if isinstance(budget, str):
        return budget
    try:
        # The shortest decimals that read back to the same number of its type, never an exponent.
        return format(Decimal(str(budget)), "f")
    except ArithmeticError as error:
        raise InputTypeError(f"a budget is text or a number\n    found: {budget!r}") from error


def estimation_bias(clean: ArrayLike, attacked: ArrayLike) -> EstimationBias:
    """Return the squared distance between features on the clean and on the attacked graph.

    >>> estimation_bias([[1.0, 2.0]], [[1.0, 5.0]]).total
    9.0
    """
    return _bias(clean, attacked, "1")


def _bias(clean: ArrayLike, attacked: ArrayLike, budget: Budget) -> EstimationBias:
    acc = Evaluator()
    acc.update("run", clean=clean, attacked=attacked, budget=budget)
    report = acc.report()
    per_node = np.array(report["bias_per_node"], dtype=np.float64)
    return EstimationBias(float(report["bias_total"]), float(report["bias_mean"]), per_node)


def bias_curve(clean: ArrayLike, attacked: Mapping[Any, ArrayLike]) -> dict[Any, dict[str, float]]:
    """Return `bias_total` and `bias_mean` for every budget, under the budgets as they are given.

    >>> bias_curve([[1.0]], {0.05: [[2.0]], 0.1: [[4.0]]})
    {0.05: {'bias_total': 1.0, 'bias_mean': 1.0}, 0.1: {'bias_total': 9.0, 'bias_mean': 9.0}}
    """
    curve = {}
    for budget, features in attacked.items():
        bias = _bias(clean, features, budget)
        curve[budget] = {"bias_total": bias.total, "bias_mean": bias.mean}
    return curve


def edge_feature_diff(
    features: ArrayLike,
    edge_index: Graph,
    bins: int = 50,
    range: tuple[float, float] | None = None,
) -> EdgeDifferences:
    """Return how much features differ along the edges of the graph they were computed on.

    `edge_index` has both directions of every edge; each counts once. Where there is no histogram, an
    `InputError` says why.

    >>> edge_feature_diff([[0.0], [2.0], [4.0]], [[0, 1, 1, 2], [1, 0, 2, 1]], bins=2).bin_edges.shape
    (3,)
    """
    acc = Evaluator(bins=bins, hist_range=range)
    acc.update(
        "run", clean=features, attacked=features, budget="1", edge_index=edge_index,
        edge_index_attacked=edge_index,
    )  # fmt: skip
    report = acc.report()
    values, ends, mean = (_defined(report, id) for id in ("hist_values", "bin_edges", "mean_diff"))
    return EdgeDifferences(np.array(values), np.array(ends), float(mean))


def robust_accuracy(logits: ArrayLike, labels: ArrayLike, test_idx: ArrayLike) -> float:
    """Return the share of test nodes whose largest score is at their label.

    >>> robust_accuracy([[2.0, 1.0], [0.0, 3.0]], labels=[0, 0], test_idx=[0, 1])
    0.5
    """
    acc = Evaluator()
    acc.update("run", clean=logits, attacked=logits, budget="1", labels=labels, test_idx=test_idx)
    return float(_defined(acc.report(), "robust_accuracy"))


def _defined(report: Any, id: str) -> Any:
    value = report[id]
    if value is None:
        raise InputError(f"'{id}' is undefined: {report.undefined['robustness.' + id]}")
    return value

"""How far an attack moves a graph model: bias, differences along edges, robust accuracy.

>>> import calipers as cp
>>> cp.robustness.estimation_bias(clean=[[3.0, 0.0], [0.0, 4.0]], attacked=[[3.0, 0.0], [0.0, 2.0]])
EstimationBias(total=4.0, mean=2.0, per_node=array([0., 4.]))
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from calipers import _calipers
from calipers._errors import InputTypeError, UsageError
from calipers._evaluator import EvaluatorBase
from calipers._inputs import files, graphs
from calipers._inputs.arguments import (
    arguments,
    called,
    names_of,
    number,
    numbers,
    parts,
    text,
    whole,
    word,
    wrong_type,
)
from calipers._inputs.arrays import ArrayLike
from calipers._inputs.graphs import Graph
from calipers._inputs.paths import Path
from calipers._report.explained import Explained
from calipers._report.short import short

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

    def __repr__(self) -> str:
        return short(self)


class _EdgeDifferences(NamedTuple):
    hist_values: npt.NDArray[np.float64] | None
    bin_edges: npt.NDArray[np.float64] | None
    mean_diff: float | None


class EdgeDifferences(Explained, _EdgeDifferences):
    """How much the ends of edges differ: densities, the edges of their bins, and the mean.

    What is undefined is `None`, and `undefined` says why.
    """


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
            "preset": word("preset", preset, get_args(Preset)),
            "bins": whole("bins", bins, 1, 100_000),
            "hist_range": None if hist_range is None else _range("hist_range", hist_range),
            "nodes": word("nodes", nodes, get_args(Nodes)),
            "ddof": None if ddof is None else whole("ddof", ddof, 0),
            "cutoff": None if cutoff is None else number("cutoff", cutoff),
            "features": word("features", features, get_args(Features)),
            "model_name": None if model_name is None else text("model_name", model_name),
        }
        given = {key: value for key, value in options.items() if value is not None}
        self._state = _calipers.robustness_new(json.dumps(given))

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
        given = _keyed(
            budget, clean=clean, attacked=attacked, labels=labels, test_idx=test_idx, test_mask=test_mask,
            train_idx=train_idx, train_mask=train_mask, val_idx=val_idx, val_mask=val_mask,
            clean_logits=clean_logits, attacked_logits=attacked_logits, edge_index=edge_index, edges=edges,
            edge_index_attacked=edge_index_attacked, edges_attacked=edges_attacked, flips=flips,
        )  # fmt: skip
        _calipers.robustness_update(self._state, text("run", run), _attack(attack), given)

    def update_batch(
        self, names: Sequence[str], *, budget: Budget | None = None, attack: str | None = None, **arrays: Any
    ) -> None:
        """Measure a run for each name; all of them or, on an error, none.

        `arrays` are those of `update`: lists with one for each run, or mappings from budgets to such lists.

        >>> acc = Evaluator()
        >>> acc.update_batch(["a", "b"], clean=[[[1.0]], [[2.0]]], attacked={0.1: [[[2.0]], [[5.0]]]})
        >>> acc.report().units
        2
        """
        given = names_of(names)
        known = arguments(arrays, _PLAIN + _BY_BUDGET)
        shares = {key: parts(key, of, len(given)) for key, of in known.items()}
        runs = [
            (name, _keyed(budget, **{key: of[unit] for key, of in shares.items()}))
            for unit, name in enumerate(given)
        ]
        _calipers.robustness_update_batch(self._state, _attack(attack), runs)


_PLAIN = (
    "clean", "labels", "test_idx", "test_mask", "train_idx", "train_mask", "val_idx", "val_mask",
    "clean_logits", "edge_index", "edges",
)  # fmt: skip
_BY_BUDGET = ("attacked", "attacked_logits", "edge_index_attacked", "edges_attacked", "flips")


def _attack(name: str | None) -> str | None:
    return None if name is None else text("attack", name)


def _keyed(budget: Budget | None, **arrays: Any) -> dict[str, Any]:
    """Return the arrays of a run under the keys of array files."""
    given = {key: arrays.get(key) for key in _PLAIN}
    if given["edge_index"] is not None:
        given["edge_index"] = graphs.edges(given["edge_index"]).edge_index
    for key in _BY_BUDGET:
        found = _by_budget(key, arrays.get(key), budget)
        if key == "edge_index_attacked":
            found = {name: graphs.edges(graph, key).edge_index for name, graph in found.items()}
        given.update(found)
    return given


def _range(name: str, given: Any) -> tuple[float, float]:
    ends = numbers(name, given)
    if len(ends) != 2:
        raise InputTypeError(f"{name} has two ends\n    found: {len(ends)}\n  allowed: (low, high)")
    if not ends[0] < ends[1]:
        raise UsageError(
            f"{name} does not take this value\n    found: {tuple(ends)}\n  allowed: (low, high), low < high"
        )
    return ends[0], ends[1]


def evaluate(*inputs: Path, **options: Any) -> Evaluator:
    """Measure the runs that files hold, as `calipers robustness` does with the same words.

    `inputs` are files, folders of them, or a configuration. The options:

    * arrays: `attack`, `budget`
    * measuring: `preset`, `bins`, `hist_range`, `nodes`, `ddof`, `cutoff`, `features`
    * a model: `graph`, `features_file`, `labels_file`, `prepare`, `model`, `trained_on`, `run`, `splits`,
      `split`, `seeds`, `shares`, `penalty`, `weights`, `gamma`, `lambda_hat`, `layers`, `scad_a`,
      `scad_scale`, `attacked`, `flips` (files by budget), `budgets`
    * names: `model_name`, `run_by`
    * `per_node`, a file with one row per node that is written
    * work: `threads`, `memory`, `shard`, `units` (names), `keep_going`, `resume` (a folder), `strict`,
      `progress`
    * for the report: `bootstrap`, `confidence`, `seed`, `interval`, `cluster_by`, `partial`

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "split0.npz"
    >>> np.savez(path, **{"clean": [[1.0], [2.0]], "attacked_0.05": [[1.0], [4.0]]})
    >>> evaluate(path).report()["bias_curve"]["0.05"]["bias_total"]
    4.0
    """
    return files.evaluate(Evaluator, inputs, options)[0]


def _by_budget(key: str, given: Any, budget: Budget | None) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if budget is None:
            raise UsageError(f"'{key}' is an array without a budget\n    help: give 'budget', or a mapping")
        given = {budget: given}
    found: dict[str, Any] = {}
    for one, array in given.items():
        found[f"{key}_{budget_text(one)}"] = array
    return found


def budget_text(budget: Any) -> str:
    """Return a budget as text: numbers with the decimals that they are written with."""
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
    if not isinstance(attacked, Mapping):
        raise wrong_type("attacked", attacked, "a mapping from budgets to features")
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

    Features of a node are divided by the square root of its degree plus one first, as in the published
    function; the document's summary leaves that out.

    `edge_index` has both directions of every edge; each counts once. Where there is no histogram, its arrays
    are `None`, and the mean stays.

    >>> path = [[0, 1, 1, 2], [1, 0, 2, 1]]
    >>> edge_feature_diff([[0.0], [2.0], [3.0]], path, bins=2, range=(0, 2)).hist_values
    array([0.5, 0.5])
    >>> edge_feature_diff([[0.0], [1.0]], [[0, 1], [1, 0]])
    EdgeDifferences(hist_values=None, bin_edges=None, mean_diff=0.7071067811865475)
    """
    ends = None if range is None else _range("range", range)
    acc = Evaluator(bins=bins, hist_range=ends)
    with called(clean="features", attacked_1="features", edge_index_attacked_1="edge_index"):
        acc.update(
            "run", clean=features, attacked=features, budget="1", edge_index=edge_index,
            edge_index_attacked=edge_index,
        )  # fmt: skip
    report = acc.report()
    found = {field: report.get(field) for field in EdgeDifferences._fields}
    series = {
        field: None if found[field] is None else np.array(found[field], dtype=np.float64)
        for field in ("hist_values", "bin_edges")
    }
    made = EdgeDifferences(series["hist_values"], series["bin_edges"], found["mean_diff"])
    made._explain(report)
    return made


def robust_accuracy(logits: ArrayLike, labels: ArrayLike, test_idx: ArrayLike) -> float | None:
    """Return the share of test nodes whose largest score is at their label; `None` where there is none.

    >>> robust_accuracy([[2.0, 1.0], [0.0, 3.0]], labels=[0, 0], test_idx=[0, 1])
    0.5
    """
    acc = Evaluator()
    with called(clean="logits", attacked_1="logits"):
        acc.update("run", clean=logits, attacked=logits, budget="1", labels=labels, test_idx=test_idx)
    share: float | None = acc.report().get("robust_accuracy")
    return share

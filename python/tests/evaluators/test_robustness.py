"""Attacks on graph models measured through the package."""

from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers import robustness

CLEAN = np.array([[3.0, 0], [0, 4], [1, 1], [2, 0]])
ATTACKED = np.array([[3.0, 0], [0, 2], [1, 3], [0, 2]])
EDGES = np.array([[0, 1], [1, 2], [2, 3], [0, 2]])
BOTH_WAYS = np.concatenate([EDGES, EDGES[:, ::-1]]).T


def test_bias_is_the_squared_distance_of_every_node() -> None:
    bias = robustness.estimation_bias(CLEAN, ATTACKED)
    assert (bias.total, bias.mean, list(bias.per_node)) == (16.0, 4.0, [0.0, 4.0, 4.0, 8.0])


def test_a_curve_keeps_the_budgets_as_they_were_given() -> None:
    curve = robustness.bias_curve(CLEAN, {0.05: CLEAN, "0.100": ATTACKED})
    assert list(curve) == [0.05, "0.100"]
    assert curve[0.05]["bias_total"] == 0.0
    assert curve["0.100"]["bias_mean"] == 4.0


@pytest.mark.parametrize(
    ("budget", "shown"), [("five", "five"), (-0.1, "-0.1"), (float("nan"), "NaN"), ("", "")]
)
def test_a_curve_refuses_what_is_no_budget(budget: Any, shown: str) -> None:
    with pytest.raises(cp.InputError, match=f'"{shown}" is not a decimal fraction >= 0'):
        robustness.bias_curve(CLEAN, {0.05: CLEAN, budget: ATTACKED})


def test_edge_differences_are_those_of_numpy_on_degrees_with_the_self_loop() -> None:
    found = robustness.edge_feature_diff(ATTACKED, BOTH_WAYS, bins=4)
    degrees = 1 + np.bincount(BOTH_WAYS[0], minlength=4)
    scaled = ATTACKED / np.sqrt(degrees)[:, None]
    differences = np.linalg.norm(scaled[EDGES[:, 0]] - scaled[EDGES[:, 1]], axis=1)
    assert np.isclose(found.mean_diff, differences.mean(), rtol=1e-14)
    density, ends = np.histogram(differences, bins=4, density=True)
    assert np.allclose(found.hist_values, density)
    assert np.allclose(found.bin_edges, ends)


def test_accuracy_takes_the_first_of_equal_scores() -> None:
    assert robustness.robust_accuracy(ATTACKED, [0, 1, 0, 0], [0, 1, 2, 3]) == 0.5
    assert robustness.robust_accuracy(ATTACKED, [0, 1, 0, 0], np.array([], dtype=np.int64)) is None


def test_a_histogram_that_does_not_exist_does_not_hide_the_mean() -> None:
    found = robustness.edge_feature_diff([[0.0], [1.0]], [[0, 1], [1, 0]])
    assert (found.hist_values, found.bin_edges) == (None, None)
    assert found.mean_diff == 0.7071067811865475
    assert set(found.undefined) == {"hist_values", "bin_edges"}
    assert robustness.edge_feature_diff([[0.0], [1.0]], np.zeros((2, 0), int)).mean_diff is None


def test_an_evaluator_measures_runs_and_merges_them() -> None:
    def run(name: str) -> robustness.Evaluator:
        acc = robustness.Evaluator(bins=4)
        acc.update(
            name, clean=CLEAN, attacked={"0.5": ATTACKED}, flips={"0.5": [[0, 3], [1, 2]]}, edges=EDGES,
            labels=[0, 1, 0, 0], test_idx=[0, 1, 2, 3],
        )  # fmt: skip
        return acc

    both, other = run("a"), run("b")
    both.merge(other)
    report = both.report()
    assert report.units == 2
    assert report["robust_accuracy"] == 0.5
    assert (report["flips_added"], report["flips_removed"]) == (1.0, 1.0)
    assert robustness.Evaluator.from_bytes(both.to_bytes()).report().to_json() == report.to_json()
    with pytest.raises(cp.DuplicateError):
        both.update("a", clean=CLEAN, attacked={"0.5": ATTACKED})


def test_errors_name_key_and_place() -> None:
    with pytest.raises(cp.CalipersError, match=r"attacked_0\.1"):
        robustness.Evaluator().update("a", clean=CLEAN, attacked={0.1: CLEAN[:2]})
    with pytest.raises(cp.UsageError, match="budget"):
        robustness.Evaluator().update("a", clean=CLEAN, attacked=ATTACKED)
    with pytest.raises(cp.CalipersError, match="five"):
        robustness.Evaluator().update("a", clean=CLEAN, attacked={"five": ATTACKED})

"""Comparisons: the numbers of the command line, and of an implementation that shares no code with them."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest

import calipers as cp
from calipers._calipers import run_cli

UNITS = 12
WORD = (1 << 64) - 1


def outputs(seed: int, count: int) -> list[int]:
    """Return the first outputs of SplitMix64."""
    state, found = seed, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & WORD
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        found.append(z ^ (z >> 31))
    return found


def model(seed: int, units: int = UNITS) -> cp.independent_set.Evaluator:
    """Score random paths of six nodes."""
    acc = cp.independent_set.Evaluator()
    edges = [[0, 1, 1, 2, 2, 3, 3, 4, 4, 5], [1, 0, 2, 1, 3, 2, 4, 3, 5, 4]]
    for unit in range(units):
        draws = outputs(1000 * seed + unit, 6)
        logits = [draw / 2**63 - 1.0 for draw in draws]
        acc.update(f"g{unit:02}", edge_index=edges, logits=logits, labels=[1, 0, 1, 0, 1, 0])
    return acc


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def test_the_json_is_that_of_the_command_line(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for name, seed in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.state").write_bytes(model(seed).to_bytes())
    paths = [tmp_path / "one.state", tmp_path / "two.state"]
    words = ["calipers", "compare", *map(str, paths), "--resamples", "300", "--json", "-", "--quiet"]
    assert run_cli(words) == 0
    written = capfdbinary.readouterr().out.decode()
    assert cp.compare(*paths, resamples=300).to_json() == written
    ours = json.loads(cp.compare({"one": model(1), "two": model(2).to_bytes()}, resamples=300).to_json())
    theirs = json.loads(written)
    assert ours["metrics"] == theirs["metrics"]


def test_intervals_and_tests_are_those_of_an_independent_computation() -> None:
    one, two = model(1), model(2)
    resamples, seed, confidence = 400, 7, 0.9
    found = cp.compare(
        {"one": one, "two": two},
        metrics="accuracy",
        resamples=resamples,
        seed=seed,
        confidence=confidence,
        interval="percentile",
    )
    line = found["accuracy"]["against_first"]["two"]
    first, second = (acc.per_unit()["accuracy"] for acc in (one, two))
    assert line["difference"] == mean(second) - mean(first)

    draws = outputs(seed, resamples * UNITS)
    differences = []
    for start in range(0, len(draws), UNITS):
        drawn = [draw * UNITS >> 64 for draw in draws[start : start + UNITS]]
        differences.append(mean([second[unit] for unit in drawn]) - mean([first[unit] for unit in drawn]))
    differences.sort()
    k = math.floor((1 - confidence) / 2 * resamples + 0.5)
    assert line["interval"] == [differences[k], differences[-1 - k]]

    apart = [b - a for a, b in zip(first, second, strict=True)]
    paired = line["paired"]
    wins, losses = (sum(sign * one > 0 for one in apart) for sign in (1, -1))
    assert (paired["wins"], paired["ties"], paired["losses"]) == (wins, UNITS - wins - losses, losses)
    tosses = wins + losses
    tail = sum(math.comb(tosses, hits) for hits in range(min(wins, losses) + 1)) / 2**tosses
    assert paired["sign_p"] == pytest.approx(min(1.0, 2 * tail), rel=1e-12)
    total = abs(math.fsum(apart))
    patterns = itertools.product((1, -1), repeat=UNITS)
    sums = [abs(math.fsum(sign * one for sign, one in zip(signs, apart, strict=True))) for signs in patterns]
    extreme = sum(one >= total - 1e-9 for one in sums)
    assert paired["permutation_exact"]
    assert paired["permutation_p"] == pytest.approx(extreme / 2**UNITS, rel=1e-12)
    assert paired["adjusted_p"] == paired["permutation_p"], "one test needs no correction"


def test_clusters_come_as_a_rule_or_as_a_mapping_and_three_models_are_ranked() -> None:
    models = {"one": model(1), "two": model(2), "three": model(3)}
    pairs = {f"g{unit:02}": f"p{unit // 2}" for unit in range(UNITS)}
    found = cp.compare(models, metrics="accuracy", resamples=200, interval="bca", cluster_by=pairs)
    as_rule = {
        "metrics": "accuracy",
        "resamples": 200,
        "interval": "bca",
        "cluster_by": r"regex:g(?P<cluster>.)",
    }
    parts = json.loads(found.to_json())
    assert (parts["method"], parts["sampling_unit"]) == ("bca", "cluster")
    assert parts["strata"]["all"] == {"units": UNITS, "sampling_units": UNITS // 2}
    ranks = found["accuracy"]["ranks"]
    assert sum(ranks["models"]["one"]["probability"]) == pytest.approx(1.0)
    assert ranks["best"] in ranks["set"]
    tens = json.loads(cp.compare(models, **as_rule).to_json())  # type: ignore[arg-type]
    assert tens["strata"]["all"]["sampling_units"] == 2
    with pytest.raises(cp.UsageError, match="interval"):
        cp.compare(models, interval="t")  # type: ignore[arg-type]
    with pytest.raises(cp.InputError, match="mapping"):
        cp.compare(models, cluster_by={"g00": "p0"})
    with pytest.raises(cp.UsageError, match="training"):
        cp.compare(model(1), between="groups")


def test_a_comparison_is_a_mapping_and_a_table() -> None:
    found = cp.compare(model(1), model(2), names=["<one>", "two"], resamples=50)
    assert found.models == ["<one>", "two"]
    assert found.units == UNITS
    assert found["accuracy"] == found["independent_set.accuracy"]
    assert set(found) == {id for id in found if id.startswith("independent_set.")}
    with pytest.raises(cp.UnknownMetricError, match="nonsense"):
        found["nonsense"]
    for text in (repr(found), found.to_markdown(), found.to_latex(), found.to_csv()):
        assert "accuracy" in text
    assert "<th>&lt;one&gt;</th>" in found._repr_html_()
    assert "approx_ratio_postprocessed" in found._repr_html_()
    assert "\\" not in found._repr_html_()
    assert "<script" not in found._repr_html_()
    assert "<one>" not in found._repr_html_()
    assert "<one>" not in found.to_html()


def test_a_data_frame_has_the_columns_of_the_csv() -> None:
    pandas = pytest.importorskip("pandas")
    found = cp.compare(model(1), model(2), resamples=50)
    frame = found.to_pandas()
    lines = found.to_csv().splitlines()
    assert list(frame.columns) == lines[0].split(",")
    assert len(frame) == len(lines) - 1
    assert isinstance(frame, pandas.DataFrame)


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.UsageError, match="at least two models"):
        cp.compare(model(1))
    with pytest.raises(cp.InputError, match="g11"):
        cp.compare(model(1), model(2, UNITS - 1))
    with pytest.raises(cp.UsageError, match="name"):
        cp.compare(model(1), model(2), names=["one"])
    with pytest.raises(cp.UsageError, match="confidence"):
        cp.compare(model(1), model(2), confidence=1.5)
    with pytest.raises(cp.InputTypeError, match="int"):
        cp.compare(model(1), 2)  # type: ignore[arg-type]
    with pytest.raises(cp.FileError):
        cp.compare(model(1), tmp_path / "none.state")

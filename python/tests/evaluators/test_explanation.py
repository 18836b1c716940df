"""Explanations measured through the package."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers import explanation

GOLDEN = json.loads((Path(__file__).parents[3] / "oracles/explanation/cases.json").read_text())
# Only files can have a key that nobody knows: a call refuses it.
CASES = [case for case in GOLDEN["cases"] if case["name"] != "unknown_key"]
LOOSE = {"auroc": 1e-6, "unfaithfulness": 2e-6, "fidelity_curve_auc": 1e-6}


def array(given: Any) -> Any:
    values = [float(value) if isinstance(value, str) else value for value in given["data"]]
    if given["dtype"] == "bfloat16":
        return bfloat16(np.array(values, dtype=np.float32).reshape(given["shape"]))
    return np.array(values, dtype=given["dtype"]).reshape(given["shape"])


def bfloat16(values: Any) -> Any:
    torch: Any = pytest.importorskip("torch")
    return torch.from_numpy(values).to(torch.bfloat16)


def nested(unit: Any) -> dict[str, Any]:
    """Masks by type as dictionaries."""
    arrays: dict[str, Any] = {}
    for key, given in unit.items():
        base, dot, kind = key.partition(".")
        if dot:
            arrays.setdefault(base, {})[kind] = array(given)
        else:
            arrays[key] = array(given)
    return arrays


def agrees(found: Any, expected: Any, limit: float) -> bool:
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(agrees(found[k], expected[k], limit) for k in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            agrees(a, b, limit) for a, b in zip(found, expected, strict=True)
        )
    if expected is None or found is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=limit, abs_tol=limit)


def measured(case: Any) -> cp.Report:
    acc = explanation.Evaluator(**case["protocol"])
    for name, unit in case["units"].items():
        acc.update(name, **nested(unit))
    return acc.report()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_golden_cases_come_out_through_the_package(case: Any) -> None:
    if "refused" in case:
        if not case["units"]:
            pytest.skip("an empty folder is a matter of files")
        with pytest.raises(cp.CalipersError) as caught:
            measured(case)
        assert isinstance(caught.value, ValueError)
        return
    report, expect = measured(case), case["expect"]
    pins = case.get("pins", GOLDEN["pins"])
    found = {short: value for id, value in report.items() if (short := id.partition(".")[2]) in pins}
    assert found.keys() == expect["metrics"].keys()
    for id, expected in expect["metrics"].items():
        loose = LOOSE.get(id, 0.0) if case["protocol"].get("preset") == "pyg" else 0.0
        assert agrees(found[id], expected, max(loose, 1e-12)), (id, found[id], expected)
    undefined = {path.partition(".")[2]: reason for path, reason in report.undefined.items()}
    undefined = {path: reason for path, reason in undefined.items() if path.partition(".")[0] in pins}
    assert undefined == expect["undefined"]
    assert {warning["code"]: warning["units"] for warning in report.warnings} == expect["warnings"]


def test_types_may_be_tuples_as_edge_types_are() -> None:
    mask = {("author", "writes", "paper"): [0.9, 0.1], "paper": [0.4]}
    truth = {("author", "writes", "paper"): [1, 0], "paper": [1]}
    report = explanation.score(pred_mask=mask, target_mask=truth)
    assert report["recall_by_type"] == {"author__writes__paper": 1.0, "paper": 0.0}


def test_functions_return_what_the_evaluator_reports() -> None:
    rng = np.random.default_rng(3)
    hat, sub, comp = (rng.normal(size=(20, 3)) for _ in range(3))
    y = rng.integers(0, 3, 20)
    report = explanation.score(y=y, y_hat=hat, y_sub=sub, y_comp=comp, scores="logits")
    found = explanation.fidelity(hat, sub, comp, y=y, scores="logits")
    assert list(found) == [report[f"fid_{side}"] for side in found._fields]
    for direction, id in (("documented", "unfaithfulness"), ("reversed", "unfaithfulness_reversed")):
        assert explanation.unfaithfulness(hat, sub, scores="logits", direction=direction) == report[id]  # type: ignore[arg-type]
    assert explanation.fidelity(hat, sub, scores="logits").plus_model is None


def test_what_is_undefined_is_nan_or_none() -> None:
    scores = explanation.characterization_score([0.0, 0.5], [0.5, 0.5], pos_weight=0.0, neg_weight=1.0)
    assert np.isnan(scores[0])
    assert scores[1] == 0.5
    assert explanation.fidelity_curve_auc([0.5, 0.5], [0.0, 1.0], [0, 1]) is None
    assert explanation.agreement([0.1, 0.2], [0, 0]).recall is None


def test_options_that_mean_nothing_are_refused() -> None:
    with pytest.raises(cp.UsageError, match="threshold"):
        explanation.Evaluator(threshold=1.5)
    with pytest.raises(cp.UsageError, match="direction"):
        explanation.unfaithfulness([[1.0, 0.0]], [[1.0, 0.0]], scores="probs", direction="up")  # type: ignore[arg-type]
    with pytest.raises(cp.UsageError, match="truth"):
        explanation.agreement([0.5])
    with pytest.raises(cp.UsageError):
        explanation.Evaluator(scores="logit")  # type: ignore[arg-type]


def test_evaluators_travel_and_merge() -> None:
    parts = []
    for k in range(3):
        acc = explanation.Evaluator()
        acc.update(f"u{k}", pred_mask=[0.1 * k, 0.9, 0.2], target_mask=[1, 1, 0])
        parts.append(explanation.Evaluator.from_bytes(acc.to_bytes()))
    for part in parts[1:]:
        parts[0].merge(part)
    assert len(parts[0]) == 3
    assert parts[0].report()["num_mask_elements"] == 9


def test_an_unknown_key_is_refused_with_its_neighbour() -> None:
    with pytest.raises(cp.UsageError, match=r"pred_maks(.|\n)*pred_mask") as caught:
        explanation.score(pred_mask=[0.1, 0.9], pred_maks=[1])
    assert isinstance(caught.value, TypeError)
    with pytest.raises(TypeError, match="explainer"):
        explanation.Evaluator().update("a", explainer="x")  # type: ignore[call-arg]

"""`calipers.pyg` does what was measured of the published code, call by call."""

import builtins
import inspect
import json
import math
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import calipers as cp
from calipers import pyg

RECORDED = Path(__file__).parents[3] / "oracles/explanation/pyg_dropin.json"
CASES = json.loads(RECORDED.read_text())["cases"]
METRICS = ["accuracy", "recall", "precision", "f1_score", "auroc"]


def argument(given: Any) -> Any:
    import torch

    if not (isinstance(given, dict) and "tensor" in given):
        return given
    values = [float(value) if isinstance(value, str) else value for value in given["data"]]
    tensor = torch.tensor(values, dtype=getattr(torch, given["tensor"])).reshape(given["shape"])
    tensor = tensor.t().contiguous().t() if given.get("transposed") else tensor
    return tensor.requires_grad_() if given.get("requires_grad") else tensor


def called(case: Any) -> Any:
    from identity_model import IdentityExplainer, IdentityExplanation

    given = [argument(value) for value in case["args"]]
    if "explainer" in case:
        tensors = {key: argument(value) for key, value in case["explanation"].items()}
        given = [IdentityExplainer(**case["explainer"]), IdentityExplanation(**tensors), *given]
    named = {key: argument(value) for key, value in case.get("kwargs", {}).items()}
    return getattr(pyg, case["f"])(*given, **named)


def near(found: float, expected: Any, rel: float = 0.0, tol: float = 0.0) -> bool:
    expected = float(expected)
    if math.isnan(expected) or math.isinf(expected) or not rel + tol:
        return repr(found) == repr(expected) or found == expected
    return abs(found - expected) <= rel * abs(expected) + tol


def check_tensor(case: Any, found: Any) -> None:
    import torch

    want = case["out"]
    expected = argument({**want, "requires_grad": False, "transposed": False})
    assert isinstance(found, torch.Tensor)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.requires_grad == want.get("requires_grad", False)
    rel = 1e-6 if case["f"] == "fidelity_curve_auc" else 0.0
    pairs = zip(found.reshape(-1).tolist(), expected.reshape(-1).tolist(), strict=True)
    assert all(near(a, b, rel) for a, b in pairs)


def check_numbers(case: Any, found: Any) -> None:
    want = case["out"].get("tuple", [case["out"].get("float")])
    if "tuple" not in case["out"]:
        found = (found,)
    assert type(found) is tuple
    assert all(type(value) is float for value in found)
    asked = case["args"][2] if case["f"] == "groundtruth_metrics" and len(case["args"]) > 2 else None
    asked = [asked] if isinstance(asked, str) else asked or METRICS
    for k, (value, expected) in enumerate(zip(found, want, strict=True)):
        tol = 2e-6 if case["f"] == "unfaithfulness" else 0.0
        if case["f"] == "groundtruth_metrics" and asked[k] == "auroc":
            tol = 1e-6
        assert near(value, expected, tol=tol), (value, expected)


@pytest.mark.compat
@pytest.mark.parametrize("case", CASES, ids=[f"{k}-{case['f']}" for k, case in enumerate(CASES)])
def test_every_measured_call_comes_out_alike(case: Any) -> None:
    pytest.importorskip("torch")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if "raises" in case:
            with pytest.raises(getattr(builtins, case["raises"])) as caught:
                called(case)
            if case["raises"] == "ValueError":
                assert str(caught.value) == case["text"]
                assert isinstance(caught.value, cp.CalipersError)
        else:
            found = called(case)
            (check_tensor if "tensor" in case["out"] else check_numbers)(case, found)
    texts = [f"{each.category.__name__}: {each.message}" for each in seen]
    assert texts == case.get("warns", [])


def test_importing_needs_none_of_the_peers() -> None:
    script = (
        "import sys\n"
        "for name in ('torch', 'torch_geometric', 'torchmetrics'): sys.modules[name] = None\n"
        "from calipers.pyg import *\n"
        "print(sorted(word for word in dir() if word[0] != '_' and word not in ('sys', 'name')))"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == str(sorted(pyg.__all__))


def test_signatures_are_those_of_the_document() -> None:
    expected = {
        "characterization_score": "pos_fidelity neg_fidelity pos_weight=0.5 neg_weight=0.5",
        "fidelity": "explainer explanation",
        "fidelity_curve_auc": "pos_fidelity neg_fidelity x",
        "groundtruth_metrics": "pred_mask target_mask metrics=None threshold=0.5",
        "unfaithfulness": "explainer explanation top_k=None",
    }
    for name, words in expected.items():
        parameters = inspect.signature(getattr(pyg, name)).parameters.values()
        assert all(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
        empty = inspect.Parameter.empty
        shown = [each.name + ("" if each.default is empty else f"={each.default}") for each in parameters]
        assert " ".join(shown) == words


def test_floats_and_arrays_are_scored_without_torch() -> None:
    import numpy as np

    score: Any = pyg.characterization_score
    assert score(0.5, 0.5) == 0.5
    assert isinstance(score(np.array([0.5]), np.array([0.5])), np.ndarray)
    with pytest.raises(ZeroDivisionError):
        score(0.0, 0.5)

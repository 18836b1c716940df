"""`calipers.pyg` against torch_geometric itself, on random draws.

Peer: torch_geometric: explanation fidelity, faithfulness, agreement, curve.
"""

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from calipers import pyg

torch: Any = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("torchmetrics")
    peer: Any = pytest.importorskip("torch_geometric.explain.metric")

pytestmark = pytest.mark.compat
DRAWS = 2000
FLOATS = (torch.float32, torch.float64)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(7)
    random.seed(7)


def recorded(function: Callable[..., Any], *given: Any) -> tuple[Any, list[str]]:
    """Return the result, or the class and text of the error, and the warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = function(*given)
        except Exception as error:
            builtin = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
            found = builtin, str(error)
    return found, [str(each.message) for each in seen]


def bits(tensor: Any) -> Any:
    return tensor.view(torch.int32 if tensor.dtype == torch.float32 else torch.int64)


def same_bits(ours: Any, theirs: Any) -> bool:
    """Compare bit by bit; one NaN is as good as another."""
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    missing = theirs.isnan()
    return bool((ours.isnan() == missing).all() and (bits(ours) == bits(theirs))[~missing].all())


def fidelities(size: Any, dtype: Any) -> Any:
    values = torch.rand(size, dtype=dtype)
    edge = torch.rand(size)
    values[edge < 0.05] = 0.0
    values[edge > 0.95] = 1.0
    return values


def test_characterization_scores_have_the_same_bits() -> None:
    for draw in range(DRAWS):
        size = random.choice([0, 1, 2, 7, 15, 16, 17, 100, random.randint(0, 5000)])
        pos, neg = (fidelities(size, FLOATS[draw % 2]) for _ in range(2))
        weight = random.choice([0.5, 0.0, 1.0, random.random(), 3.0])
        assert same_bits(
            pyg.characterization_score(pos, neg, weight, 1 - weight),
            peer.characterization_score(pos, neg, weight, 1 - weight),
        )


def test_promoted_broadcast_and_strided_scores_have_the_same_bits() -> None:
    makes = [
        lambda: (fidelities((4, 3), torch.float32), fidelities(3, torch.float32)),
        lambda: (fidelities(3, torch.float32), fidelities(3, torch.float64)),
        lambda: (fidelities((3, 4), torch.float32).t(), fidelities((4, 3), torch.float32)),
        lambda: (fidelities(8, torch.float64)[::2], fidelities(4, torch.float64)),
        lambda: (fidelities((), torch.float32), fidelities(2, torch.float64)),
        lambda: (torch.randint(0, 2, (5,)), fidelities(5, torch.float32)),
    ]
    for draw in range(300):
        pos, neg = makes[draw % len(makes)]()
        assert same_bits(pyg.characterization_score(pos, neg), peer.characterization_score(pos, neg))


def test_areas_agree_and_so_do_their_errors() -> None:
    for draw in range(DRAWS):
        dtype = FLOATS[draw % 2]
        size = random.choice([0, 1, 2, 5, 17, random.randint(1, 600)])
        pos, neg = torch.rand(size, dtype=dtype), torch.rand(size, dtype=dtype) * 0.98
        if draw % 5 == 0:
            pos, neg = torch.rand(3, size, dtype=dtype), torch.rand(3, size, dtype=dtype) * 0.98
        x = torch.rand(size, dtype=random.choice(FLOATS)).mul(8).round() if draw % 3 else torch.arange(size)
        x = x if draw % 17 == 0 else x.sort().values
        if draw % 23 == 0 and size:
            neg.view(-1)[random.randrange(neg.numel())] = 1.0
        ours = recorded(pyg.fidelity_curve_auc, pos, neg, x)
        theirs = recorded(peer.fidelity_curve_auc, pos, neg, x)
        assert ours[1] == theirs[1]
        if isinstance(theirs[0], tuple):
            assert ours[0] == theirs[0]
            continue
        assert (ours[0].dtype, ours[0].shape) == (theirs[0].dtype, theirs[0].shape)
        limit = 1e-6 if theirs[0].dtype == torch.float32 else 1e-12
        assert torch.allclose(ours[0], theirs[0], rtol=limit, atol=0, equal_nan=True)


def masks(draw: int) -> tuple[Any, Any]:
    size = random.choice([1, 2, 3, 10, 100, random.randint(1, 3000)])
    grid = random.choice([2, 8, 64, 10**6])
    pred = torch.rand(size, dtype=FLOATS[draw % 2]).mul(grid).round().div(grid)
    target = torch.rand(size, dtype=FLOATS[draw // 2 % 2]).mul(grid).round().div(grid)
    kind = draw % 10
    if kind == 0:
        pred = torch.randn(size) * random.choice([1, 5, 20])
    elif kind == 1:
        pred[random.randrange(size)] = random.choice([1.0001, -0.01, math.inf, math.nan])
    elif kind == 2:
        target = torch.full_like(target, random.choice([0.0, 1.0]))
    elif kind == 3:
        pred = torch.full_like(pred, random.random())
    elif kind == 4:
        pred = pred.to(random.choice([torch.float16, torch.bfloat16]))
    elif kind == 5:
        target = target.round().to(random.choice([torch.int64, torch.bool, torch.uint8]))
    elif kind == 6:
        pred = pred.round().to(random.choice([torch.int64, torch.bool, torch.int8]))
    elif kind == 7 and draw % 4 == 1:
        pred[torch.rand(size) < 0.3] = math.nan
    return pred, target


METRICS = ("accuracy", "recall", "precision", "f1_score", "auroc")


def test_masks_agree_with_their_truth_alike() -> None:
    for draw in range(DRAWS):
        pred, target = masks(draw)
        asked = random.choice([None, None, *METRICS, random.choices(METRICS, k=3)])
        threshold = random.choice([0.5, 0.1, 0.25, 0.35, 0.9, 1, 1.5])
        ours, our_warnings = recorded(pyg.groundtruth_metrics, pred, target, asked, threshold)
        theirs, their_warnings = recorded(peer.groundtruth_metrics, pred, target, asked, threshold)
        assert our_warnings == their_warnings
        if isinstance(theirs, tuple) and isinstance(theirs[0], type):
            assert ours == theirs
            continue
        assert type(ours) is type(theirs)
        if isinstance(theirs, float):
            ours, theirs, asked = (ours,), (theirs,), [asked]
        for metric, a, b in zip(asked or METRICS, ours, theirs, strict=True):
            assert a == b or (metric == "auroc" and abs(a - b) <= 1e-6), (draw, metric, a, b)


def explained(kind: str, draw: int) -> tuple[Any, Any]:
    from identity_model import IdentityExplainer, IdentityExplanation
    from torch_geometric.explain.config import ExplanationType, MaskType, ModelMode, ModelReturnType

    size, classes = random.randint(1, 40), random.randint(1, 6)
    binary = draw % 7 == 0
    classes = 1 if binary else classes
    dtype = FLOATS[draw % 2]
    x = torch.randn(size, classes, dtype=dtype) * random.choice([1, 1, 3, 100])
    if kind != "raw":
        x = x.sigmoid() if binary else x.softmax(-1)
        x = x.log() if kind == "log_probs" else x
    explainer = IdentityExplainer(
        "binary_classification" if binary else "multiclass_classification",
        model="squeeze" if binary and draw % 2 else "identity",
    )
    # The peer compares members of its own enums.
    explainer.model_config.return_type = ModelReturnType(kind)
    explainer.explanation_type = ExplanationType(random.choice(["model", "phenomenon"]))
    explainer.node_mask_type = MaskType("attributes")
    labels = explainer.get_target(explainer.get_prediction(x, None))
    explainer.model_config.mode, word = (
        ModelMode(explainer.model_config.mode.value),
        explainer.model_config.mode,
    )
    explainer.get_target = lambda prediction, word=word: _target(explainer, word, prediction)  # type: ignore[method-assign]
    index = random.choice(
        [None, torch.randint(0, size, (3,)), torch.rand(size) < 0.7, random.randrange(size)]
    )
    mask = (
        torch.rand(size, classes, dtype=dtype) if draw % 3 else torch.rand(size, classes, dtype=dtype).round()
    )
    target = labels if draw % 2 else torch.randint(0, max(classes, 2), (size,))
    return explainer, IdentityExplanation(
        x=x, node_mask=random.choice([mask, mask, None]), target=target, index=index, prediction=None
    )


def _target(explainer: Any, word: Any, prediction: Any) -> Any:
    own, explainer.model_config.mode = explainer.model_config.mode, word
    try:
        return type(explainer).get_target(explainer, prediction)
    finally:
        explainer.model_config.mode = own


def close(a: float, b: float, limit: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= limit


def test_fidelities_have_the_same_bits() -> None:
    for draw in range(DRAWS):
        given = explained(("raw", "probs", "log_probs")[draw % 3], draw)
        ours, theirs = recorded(pyg.fidelity, *given), recorded(peer.fidelity, *given)
        assert repr(ours) == repr(theirs), draw


def test_unfaithfulness_agrees_and_is_nan_where_the_peer_is() -> None:
    for draw in range(DRAWS):
        given = explained(("raw", "probs", "log_probs")[draw % 3], draw)
        top_k = random.choice([None, None, 1, 2, 9])
        ours, theirs = (recorded(f.unfaithfulness, *given, top_k)[0] for f in (pyg, peer))
        if isinstance(theirs, tuple):
            assert ours == theirs
        else:
            assert type(ours) is float
            assert close(ours, theirs, 2e-6), (draw, ours, theirs)


def test_gradients_are_those_of_the_peer() -> None:
    for draw in range(200):
        size = random.randint(1, 9)
        pos = torch.rand(size, dtype=FLOATS[draw % 2], requires_grad=True)
        neg = torch.rand(size, dtype=FLOATS[draw % 2], requires_grad=True)
        x = torch.arange(size)
        for function, more in (("characterization_score", ()), ("fidelity_curve_auc", (x,))):
            ours, theirs = (
                torch.autograd.grad(getattr(f, function)(pos, neg, *more).sum(), (pos, neg))
                for f in (pyg, peer)
            )
            assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_both_ways_of_computing_give_the_same_bits() -> None:
    for dtype in FLOATS:
        pos, neg = fidelities(1000, dtype), fidelities(1000, dtype)
        by_torch = pyg.characterization_score(pos.clone().requires_grad_(), neg, 0.3, 0.7).detach()
        assert same_bits(pyg.characterization_score(pos, neg, 0.3, 0.7), by_torch)
        assert torch.equal(
            torch.vmap(pyg.characterization_score)(pos, neg), pyg.characterization_score(pos, neg)
        )


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_forward_derivatives_pass_through() -> None:
    pos, neg = torch.rand(4) + 0.1, torch.rand(4) * 0.9
    _, ours = torch.func.jvp(pyg.characterization_score, (pos, neg), (torch.ones(4), torch.ones(4)))
    _, theirs = torch.func.jvp(peer.characterization_score, (pos, neg), (torch.ones(4), torch.ones(4)))
    assert torch.equal(ours, theirs)
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(pos, torch.ones(4))
        assert forward_ad.unpack_dual(pyg.characterization_score(dual, neg)).tangent is not None

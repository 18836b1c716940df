"""The document's functions score any model by its output, whatever the graph and the numbers are made of."""

import random
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers import rung

torch: Any = pytest.importorskip("torch")
sparse: Any = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.compat

NODES, FEATURES, CLASSES = 12, 5, 3
RNG = np.random.default_rng(4)
UPPER = np.triu(RNG.random((NODES, NODES)) < 0.3, 1)
CLEAN = torch.from_numpy((UPPER | UPPER.T).astype(np.float32))
ATTACKED = CLEAN.clone()
ATTACKED[0, 5] = ATTACKED[5, 0] = 1 - ATTACKED[0, 5]
X = torch.from_numpy(RNG.normal(size=(NODES, FEATURES)).astype(np.float32))
Y = torch.from_numpy(RNG.integers(0, CLASSES, NODES))
TEST = torch.arange(8)


class Gcn(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
    """Sixteen hidden features, and a head of three classes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.first = torch.nn.Linear(FEATURES, 16)
        self.drop = torch.nn.Dropout(0.5)
        self.head = torch.nn.Linear(16, CLASSES)

    def get_aggregated_features(self, A: Any, X: Any) -> Any:
        return torch.relu(A @ self.first(self.drop(X)))

    def forward(self, A: Any, X: Any) -> Any:
        return A @ self.head(self.get_aggregated_features(A, X))


def accuracy(model: Any, graph: Any) -> float:
    with torch.no_grad():
        right = model.eval()(graph, X)[TEST].argmax(1) == Y[TEST]
    return float(right.sum()) / len(TEST)


def test_class_scores_are_those_of_the_head_and_not_its_features() -> None:
    model = Gcn()
    expected = accuracy(model, CLEAN), accuracy(model, ATTACKED)
    of_features = (model.get_aggregated_features(CLEAN, X)[TEST].argmax(1) == Y[TEST]).float().mean().item()
    assert of_features != expected[0], "the case tells the two apart"
    found = rung.compute_clean_and_attacked_accuracy(model, CLEAN, ATTACKED, X, Y, TEST)
    assert found == expected
    assert rung.compute_robust_accuracy(model, ATTACKED, X, Y, TEST, "cpu") == expected[1]
    mask = torch.zeros(NODES, dtype=torch.bool)
    mask[TEST] = True
    for tested in (mask, mask.numpy(), TEST.tolist(), TEST.numpy().astype(np.int16)):
        assert rung.compute_robust_accuracy(model, ATTACKED, X.numpy(), Y.tolist(), tested) == expected[1]


def test_bias_and_differences_are_those_of_the_features() -> None:
    model = Gcn().eval()
    with torch.no_grad():
        clean, attacked = (model.get_aggregated_features(A, X) for A in (CLEAN, ATTACKED))
    total = ((attacked.double() - clean.double()) ** 2).sum().item()
    assert rung.compute_estimation_bias(model, CLEAN, X, ATTACKED)[0] == pytest.approx(total, rel=1e-12)
    curve = rung.compute_bias_curve(model, CLEAN, X, {0.1: ATTACKED})
    assert curve[0.1]["bias_mean"] == pytest.approx(total / NODES, rel=1e-12)
    degrees = 1 + CLEAN.sum(1)
    scaled = clean.double() / degrees.double().sqrt()[:, None]
    i, j = CLEAN.nonzero().T
    expected = (scaled[i] - scaled[j]).norm(dim=1).numpy()
    values, ends, mean = rung.compute_edge_feature_diff_distribution(model, CLEAN, X, num_bins=7)
    assert mean == pytest.approx(expected.mean(), rel=1e-12)
    np.testing.assert_allclose(values, np.histogram(expected, bins=7, density=True)[0])
    assert ends is not None
    assert len(ends) == 8


class ByEdges(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
    """Takes every form of a graph."""

    def forward(self, A: Any, X: Any) -> Any:
        if A.layout == torch.strided and A.dtype == torch.int64:
            return torch.zeros_like(X).index_add(0, A[0], X[A[1]])
        return A @ X


FORMS = [
    "tensor", "array", "array of another type", "lists", "COO", "CSR", "SciPy CSR", "SciPy COO array",
    "edge_index", "edge_index in NumPy",
]  # fmt: skip


def graphs(dense: Any) -> dict[str, Any]:
    matrix = dense.numpy()
    return {
        "tensor": dense,
        "array": matrix,
        "array of another type": matrix.astype(np.int32),
        "lists": matrix.tolist(),
        "COO": dense.to_sparse_coo(),
        "CSR": dense.to_sparse_csr(),
        "SciPy CSR": sparse.csr_matrix(matrix),
        "SciPy COO array": sparse.coo_array(matrix),
        "edge_index": dense.nonzero().T,
        "edge_index in NumPy": np.stack(np.nonzero(matrix)).astype(np.int32),
    }


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_graph_gives_the_same_numbers(form: str) -> None:
    model, clean, attacked = ByEdges(), graphs(CLEAN)[form], graphs(ATTACKED)[form]
    expected = rung.compute_estimation_bias(model, CLEAN, X, ATTACKED)[0]
    assert rung.compute_estimation_bias(model, clean, X, attacked)[0] == pytest.approx(expected, rel=1e-6)
    of_dense = rung.compute_edge_feature_diff_distribution(model, CLEAN, X)[2]
    assert rung.compute_edge_feature_diff_distribution(model, clean, X)[2] == pytest.approx(
        of_dense, rel=1e-6
    )
    accuracies = rung.compute_clean_and_attacked_accuracy(model, CLEAN, ATTACKED, X, Y, TEST)
    assert rung.compute_clean_and_attacked_accuracy(model, clean, attacked, X, Y, TEST) == accuracies


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_scores_of_every_type_are_widened_exactly(name: str) -> None:
    dtype = getattr(torch, name)
    model = Gcn().to(dtype)
    given = X.to(dtype), CLEAN.to(dtype), ATTACKED.to(dtype)
    with torch.no_grad():
        clean, attacked = (model.eval().get_aggregated_features(A, given[0]).double() for A in given[1:])
        expected = ((attacked - clean) ** 2).sum().item()
    assert rung.compute_estimation_bias(model, given[1], given[0], given[2])[0] == pytest.approx(expected)
    # An array takes the precision of the model.
    assert rung.compute_robust_accuracy(model, CLEAN.numpy(), X.double().numpy(), Y, TEST) is not None


def test_equal_differences_have_a_mean_and_no_histogram() -> None:
    ring = torch.roll(torch.eye(4), 1, 0) + torch.roll(torch.eye(4), -1, 0)
    alternating = torch.tensor([[0.0], [1.0], [0.0], [1.0]])
    values, ends, mean = rung.compute_edge_feature_diff_distribution(lambda A, X: X, ring, alternating)
    assert (values, ends) == (None, None)
    assert mean == pytest.approx(1 / np.sqrt(3))
    assert rung.compute_edge_feature_diff_distribution(lambda A, X: X, torch.zeros(4, 4), alternating) == (
        None, None, None,
    )  # fmt: skip


def test_what_cannot_be_tested_has_no_accuracy() -> None:
    assert rung.compute_robust_accuracy(Gcn(), CLEAN, X, Y, []) is None
    assert rung.compute_robust_accuracy(Gcn(), CLEAN, X, Y, torch.zeros(NODES, dtype=torch.bool)) is None
    assert rung.compute_robust_accuracy(lambda A, X: X[:, :1], CLEAN, X, Y, TEST) is None


def test_a_model_is_left_as_it_was_also_after_an_error() -> None:
    class Fails(Gcn):
        def forward(self, A: Any, X: Any) -> Any:
            torch.rand(3), np.random.rand(), random.random()
            assert not self.training
            assert not torch.is_grad_enabled()
            raise ZeroDivisionError("mine")

    model = Fails().train()
    model.drop.eval()
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()  # type: ignore[index]
    with pytest.raises(ZeroDivisionError, match="mine"):
        rung.compute_robust_accuracy(model, CLEAN, X, Y, TEST)
    assert (model.training, model.drop.training, model.head.training) == (True, False, True)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # type: ignore[index]
    assert random.getstate() == before[2]


@pytest.mark.parametrize(
    ("returned", "kind", "words"),
    [
        (lambda A, X: (X, X), cp.InputTypeError, "tuple"),
        (lambda A, X: X[:3], cp.InputError, r"\(3, 5\)"),
        (lambda A, X: X[:, 0], cp.InputError, r"\(12,\)"),
        (lambda A, X: X.to(torch.complex64), cp.InputTypeError, "complex64"),
        (lambda A, X: X / 0, cp.InputError, "not finite"),
    ],
)
def test_what_a_model_returns_is_checked_and_named(returned: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words) as told:
        rung.compute_estimation_bias(returned, CLEAN, X, ATTACKED)
    assert "`model`" in str(told.value)


def test_graphs_and_labels_that_cannot_be_are_named() -> None:
    same = lambda A, X: X  # noqa: E731
    loop, oneway = CLEAN.clone(), CLEAN.clone()
    loop[2, 2] = 1
    i, j = CLEAN.nonzero()[0].tolist()
    oneway[j, i] = 0
    with pytest.raises(cp.InputError, match=r"A\[2, 2\]"):
        rung.compute_edge_feature_diff_distribution(same, loop, X)
    with pytest.raises(cp.InputError, match=rf"`A` is not symmetric\n +at: A\[{j}, {i}\]"):
        rung.compute_edge_feature_diff_distribution(same, oneway, X)
    with pytest.raises(cp.InputError, match="`y` has one label per node"):
        rung.compute_robust_accuracy(same, CLEAN, X, Y[:3], TEST)
    with pytest.raises(cp.InputError, match=r"at: y\[1\]\n +found: 7"):
        rung.compute_robust_accuracy(same, CLEAN, X, [0, 7, *[0] * 10], TEST)
    with pytest.raises(cp.InputTypeError, match="`y`"):
        rung.compute_robust_accuracy(same, CLEAN, X, Y.double() + 0.5, TEST)
    with pytest.raises(cp.InputError, match="test_idx"):
        rung.compute_robust_accuracy(same, CLEAN, X, Y, [99])
    with pytest.raises(cp.InputTypeError, match="`model` cannot be called"):
        rung.compute_robust_accuracy("model", CLEAN, X, Y, TEST)

"""`calipers.pyg` with torch_geometric's explainers, from forward passes to a report."""

import warnings
from typing import Any

import pytest

import calipers as cp
from calipers import pyg

torch: Any = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    peer: Any = pytest.importorskip("torch_geometric.explain.metric")
    from torch_geometric.data import HeteroData
    from torch_geometric.explain import DummyExplainer, Explainer, GNNExplainer
    from torch_geometric.nn import GCNConv

pytestmark = [
    pytest.mark.compat,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


class TwoLayers(torch.nn.Module):  # type: ignore[misc]
    """A graph convolutional network of two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(5, 8), GCNConv(8, 3)

    def forward(self, x: Any, edge_index: Any, scale: Any = None) -> Any:
        """Return logits."""
        logits = self.second(self.first(x, edge_index).relu(), edge_index)
        return logits if scale is None else logits * scale


@pytest.fixture(params=["model", "phenomenon"])
def explained(request: Any) -> Any:
    torch.manual_seed(5)
    explainer = Explainer(
        TwoLayers(),
        algorithm=GNNExplainer(epochs=20),
        explanation_type=request.param,
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    x, edge_index = torch.randn(20, 5), torch.randint(0, 20, (2, 60))
    target = torch.randint(0, 3, (20,)) if request.param == "phenomenon" else None
    explanation = explainer(x, edge_index, target=target, index=torch.arange(8), scale=torch.tensor(2.0))
    return explainer, explanation


def test_an_explained_network_scores_alike(explained: Any) -> None:
    assert pyg.fidelity(*explained) == peer.fidelity(*explained)
    for top_k in (None, 2):
        ours, theirs = pyg.unfaithfulness(*explained, top_k), peer.unfaithfulness(*explained, top_k)
        assert abs(ours - theirs) <= 2e-6


def test_evidence_gives_the_fidelity_of_the_published_code(explained: Any) -> None:
    explainer, _ = explained
    acc = cp.explanation.Evaluator(**pyg.options(explainer))
    acc.update("nodes", **pyg.evidence(*explained))
    kind = explainer.explanation_type.value
    found = [acc.report()[f"fid_{side}_{kind}"] for side in ("plus", "minus")]
    assert found == pytest.approx(pyg.fidelity(*explained), abs=1e-7)
    assert set(acc.report()["sparsity_by_type"]) == {"node", "edge"}  # type: ignore[call-overload]


class ByType(torch.nn.Module):  # type: ignore[misc]
    """What the features of papers say, the masks on them and on their authors included."""

    def forward(self, x_dict: Any, edge_index_dict: Any, scale: float = 1.0) -> Any:
        """Return logits."""
        return (x_dict["paper"] + x_dict["author"].mean()) * scale


@pytest.fixture(params=["model", "phenomenon"])
def papers(request: Any) -> Any:
    torch.manual_seed(3)
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.randn(6, 3), torch.randn(4, 2)
    data["author", "writes", "paper"].edge_index = torch.randint(0, 4, (2, 7))
    explainer = Explainer(
        ByType(),
        algorithm=DummyExplainer(),
        explanation_type=request.param,
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    target = torch.randint(0, 3, (6,)) if request.param == "phenomenon" else None
    return data, explainer, target


def test_a_heterogeneous_explanation_scores_like_its_evidence(papers: Any) -> None:
    data, explainer, target = papers
    explanation = explainer(data.x_dict, data.edge_index_dict, target=target, index=torch.arange(4))
    kind = explainer.explanation_type.value
    for top_k in (None, 2):
        evidence = pyg.evidence(explainer, explanation, top_k)
        del evidence["pred_mask"]
        report = cp.explanation.score(**evidence, **pyg.options(explainer), preset="pyg")
        assert pyg.unfaithfulness(explainer, explanation, top_k) == pytest.approx(
            report["unfaithfulness"], abs=1e-7
        )
        if top_k is None:
            found = [report[f"fid_{side}_{kind}"] for side in ("plus", "minus")]
            assert found == pytest.approx(pyg.fidelity(explainer, explanation), abs=1e-7)


def test_evidence_is_gathered_by_node_and_edge_type(papers: Any) -> None:
    data, explainer, target = papers
    explanation = explainer(data.x_dict, data.edge_index_dict, target=target, scale=2.0)
    report = cp.explanation.score(**pyg.evidence(explainer, explanation, scale=2.0), **pyg.options(explainer))
    assert report["num_instances"] == 6
    assert set(report["sparsity_by_type"]) == {"paper", "author", "author__writes__paper"}  # type: ignore[call-overload]

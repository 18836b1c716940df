"""Graphs of every library are the same edges, wherever a graph is taken."""

import warnings
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers import independent_set
from calipers._inputs.graphs import edges

EDGES = [(0, 1), (1, 2), (3, 4)]
NODES = 6
BOTH = np.array([*EDGES, *[(j, i) for i, j in EDGES]]).T
DENSE = np.zeros((NODES, NODES))
DENSE[BOTH[0], BOTH[1]] = 1
SCORES = [0.9, 0.2, 0.8, 0.1, 0.7, 0.0]
CHOSEN = [True, False, True, False, True, True]


def pairs(graph: Any) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in np.asarray(edges(graph).edge_index).T}


def libraries() -> dict[str, Any]:
    found: dict[str, Any] = {"edge_index": BOTH, "lists": BOTH.tolist(), "one row per edge": BOTH.T}
    try:
        import networkx as nx

        found["networkx"] = nx.Graph(EDGES)
        found["networkx"].add_node(5)
        found["networkx, both ways"] = found["networkx"].to_directed()
        found["networkx, multigraph"] = nx.MultiGraph(found["networkx"])
    except ImportError:
        pass
    try:
        from scipy import sparse

        found["SciPy matrix"] = sparse.csr_matrix(DENSE)
        found["SciPy array"] = sparse.coo_array(DENSE)
    except ImportError:
        pass
    try:
        import torch

        found["torch"] = torch.from_numpy(BOTH)
        found["torch COO"] = torch.from_numpy(DENSE).to_sparse_coo()
        # Of what the libraries warn about themselves.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["torch CSR"] = torch.from_numpy(DENSE).to_sparse_csr()
            from torch_geometric.data import Data

        found["PyG"] = Data(edge_index=torch.from_numpy(BOTH), num_nodes=NODES)
    except ImportError:
        pass
    return found


LIBRARIES = libraries()


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_edges(library: str) -> None:
    graph = LIBRARIES[library]
    assert pairs(graph) == {(int(i), int(j)) for i, j in BOTH.T}
    says = edges(graph).num_nodes
    assert says in (None, NODES)
    assert independent_set.greedy_decode(SCORES, graph).tolist() == CHOSEN
    assert independent_set.is_independent(CHOSEN, graph)
    assert independent_set.swap_search(CHOSEN, graph).tolist() == CHOSEN
    nodes = NODES if says is None else None
    assert independent_set.upper_bound(graph, nodes) == 4
    assert independent_set.min_degree(graph, nodes).sum() == 4
    acc, plain = cp.independent_set.Evaluator(), cp.independent_set.Evaluator()
    acc.update("g", edge_index=graph, logits=SCORES, labels=CHOSEN)
    plain.update("g", edge_index=BOTH, logits=SCORES, labels=CHOSEN, num_nodes=NODES)
    assert acc.report()["accuracy"] == plain.report()["accuracy"]
    assert acc.per_unit() == plain.per_unit()
    features = np.arange(NODES)[:, None] ** 2.0
    expected = cp.robustness.edge_feature_diff(features, BOTH, bins=2)
    assert cp.robustness.edge_feature_diff(features, graph, bins=2).mean_diff == expected.mean_diff
    given = independent_set.loss_and_grad(SCORES, graph, CHOSEN, feasibility_weight=1.0)
    assert (
        given.loss_total
        == independent_set.loss_and_grad(SCORES, BOTH, CHOSEN, feasibility_weight=1.0).loss_total
    )


def test_nodes_of_networkx_are_numbered_as_they_were_added() -> None:
    nx = pytest.importorskip("networkx")
    path = nx.Graph([("c", "a"), ("a", "b")])
    assert pairs(path) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    oneway = nx.DiGraph([(0, 1)])
    assert pairs(oneway) == {(0, 1)}
    loop = nx.Graph([(0, 0), (0, 1)])
    assert sorted(map(tuple, np.asarray(edges(loop).edge_index).T.tolist())) == [(0, 0), (0, 1), (1, 0)]
    assert independent_set.greedy_decode([0.9, 0.2, 0.8], nx.path_graph(3)).tolist() == [True, False, True]


def test_a_graph_that_says_its_nodes_is_never_cut() -> None:
    nx = pytest.importorskip("networkx")
    path = nx.path_graph(3)
    with pytest.raises(cp.InputError, match="`num_nodes` is smaller"):
        independent_set.upper_bound(path, 2)
    with pytest.raises(cp.InputError, match="`scores` has one value per node"):
        independent_set.greedy_decode([0.1, 0.2], path)
    with pytest.raises(cp.UsageError, match="num_nodes"):
        independent_set.upper_bound(BOTH)


def test_what_is_ambiguous_or_no_graph_is_told() -> None:
    with pytest.warns(UserWarning, match="edges 0-2 and 1-3; for 0-1 and 2-3 give its transpose"):
        edges([[0, 1], [2, 3]])
    for clear in ([[0, 1], [1, 0]], [[0, 2], [2, 0]]):
        edges(np.array(clear))
    with pytest.raises(cp.InputError, match="`edge_index` is a square matrix"):
        independent_set.greedy_decode(SCORES, DENSE)
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(cp.InputError, match="not square"):
        independent_set.greedy_decode(SCORES, sparse.csr_matrix(DENSE[:2]))


@pytest.mark.compat
@pytest.mark.filterwarnings("ignore")
def test_pyg_batches_cut_themselves_and_types_are_refused() -> None:
    data = pytest.importorskip("torch_geometric.data")
    torch = pytest.importorskip("torch")
    one = data.Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
    batch = data.Batch.from_data_list([one, one])
    acc = cp.independent_set.Evaluator()
    acc.update_batch(["a", "b"], edge_index=batch, logits=SCORES, labels=[1, 0, 1, 0, 1, 1])
    assert acc.per_unit()["unit"] == ["a", "b"]
    loss = independent_set.loss(torch.tensor(SCORES), batch, torch.tensor([1, 0, 1, 0, 1, 1]))
    assert loss.item() == pytest.approx(
        independent_set.loss_and_grad(SCORES, batch.edge_index, [1, 0, 1, 0, 1, 1], [0, 3, 6]).loss_total
    )
    hetero = data.HeteroData()
    hetero["paper", "cites", "paper"].edge_index = one.edge_index
    with pytest.raises(cp.InputTypeError, match="to_homogeneous"):
        independent_set.greedy_decode(SCORES[:3], hetero)
    with pytest.raises(cp.InputError, match="has no edges"):
        independent_set.greedy_decode(SCORES[:3], data.Data(num_nodes=3))
    # PyG would have to guess the number of nodes.
    assert edges(data.Data(edge_index=one.edge_index)).num_nodes is None

"""The RUNG network from Python: the words and the bytes of the commands, on files and in memory."""

import copy
import json
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers import rung
from calipers._calipers import run_cli

EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (3, 4)]
BOTH = np.array([*EDGES, *((j, i) for i, j in EDGES)]).T
X = np.array([[1, 0, 0.5]] * 4 + [[0, 1, node / 8] for node in range(4, 8)])
Y = [0, 0, 0, 0, 1, 1, 1, 1]
SPLIT = {"train": [0, 5], "val": [1], "test": [2, 3, 4, 6, 7]}
SMALL: dict[str, Any] = {"penalty": "mcp", "weights": "legacy", "gamma": 6, "epochs": 20, "hidden": 4}
FLAGS = "--penalty mcp --weights legacy --gamma 6 --epochs 20 --hidden 4"
QUIET = pytest.mark.filterwarnings("ignore:under_budget", "ignore:no_flips_allowed", "ignore:no_effect")
SEARCH: dict[str, Any] = {"steps": 5, "samples": 3}


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Make the files of a small graph in the working directory."""
    monkeypatch.chdir(tmp_path)
    np.savez("g.npz", edges=np.array(EDGES), features=X, labels=Y)
    (tmp_path / "s.json").write_text(json.dumps(SPLIT))
    return tmp_path


def command(words: str) -> None:
    assert run_cli(["calipers", "robustness", *words.split(), "--quiet"]) == 0


def trained(**options: Any) -> rung.Model:
    return rung.train(BOTH, features=X, labels=Y, **{"splits": SPLIT, **SMALL, **options})


@QUIET
def test_files_and_arrays_give_the_bytes_of_the_commands(folder: pathlib.Path) -> None:
    command(f"train --graph g.npz --splits s.json {FLAGS} --out m.safetensors")
    from_files = rung.train(folder / "g.npz", splits=folder / "s.json", threads=2, **SMALL)
    in_memory = trained(threads=1)
    for ending in ("safetensors", "pt"):
        in_memory.save(f"a.{ending}")
        from_files.save(f"b.{ending}")
        assert (folder / f"a.{ending}").read_bytes() == (folder / f"b.{ending}").read_bytes()
    assert (folder / "a.safetensors").read_bytes() == (folder / "m.safetensors").read_bytes()
    assert rung.load("m.safetensors") == in_memory

    flags = "--graph g.npz --splits s.json --model m.safetensors"
    command(f"attack {flags} --budgets 0.1,0.4 --steps 5 --samples 3 --out flips")
    flips = rung.attack(BOTH, in_memory, [0.1, "0.4"], features=X, labels=Y, splits=SPLIT, **SEARCH)
    assert list(flips) == ["0.1", "0.4"]
    again = rung.attack("g.npz", "m.safetensors", (0.1, 0.4), splits="s.json", **SEARCH)
    for budget, pairs in flips.items():
        written = np.load(f"flips/{budget}.npy")
        assert pairs.dtype == written.dtype == np.int64
        assert pairs.shape == (len(pairs), 2)
        assert np.array_equal(pairs, written)
        assert np.array_equal(again[budget], written)

    command(f"forward {flags} --flips 0.1=flips/0.1.npy --flips 0.4=flips/0.4.npy --out run.npz")
    arrays = rung.forward(BOTH, in_memory, features=X, labels=Y, splits=SPLIT, flips=flips)
    files = {"0.1": "flips/0.1.npy", 0.4: folder / "flips" / "0.4.npy"}
    for made in arrays, rung.forward("g.npz", "m.safetensors", splits="s.json", flips=files):
        acc = cp.robustness.Evaluator(model_name="mcp")
        acc.update("split0", **made)
        expected = cp.robustness.evaluate("run.npz").report()
        assert {**acc.report()} == {**expected}
    stored = np.load("run.npz")
    assert np.array_equal(stored["attacked_0.4"], arrays["attacked"]["0.4"])
    assert np.array_equal(stored["edges"], arrays["edges"])


def test_an_attacked_graph_is_given_by_its_edges_or_by_what_is_flipped() -> None:
    model = trained()
    given: dict[str, Any] = {"features": X, "labels": Y, "splits": SPLIT}
    flipped = rung.forward(BOTH, model, flips={0.2: [[0, 4]]}, **given)
    attacked = np.concatenate([BOTH, [[0, 4], [4, 0]]], axis=1)
    whole = rung.forward(BOTH, model, attacked={0.2: attacked}, **given)
    assert np.array_equal(flipped["attacked"]["0.2"], whole["attacked"]["0.2"])
    assert len(whole["edges_attacked"]["0.2"]) == len(EDGES) + 1
    acc = cp.robustness.Evaluator()
    acc.update("split0", **whole)
    assert acc.report().units == 1


def test_graphs_of_any_library_train_the_same_model() -> None:
    networkx, sparse = pytest.importorskip("networkx"), pytest.importorskip("scipy.sparse")
    graph = networkx.Graph()
    graph.add_nodes_from(range(8))
    graph.add_edges_from(EDGES)
    matrix = sparse.coo_array((np.ones(18), (BOTH[0], BOTH[1])), shape=(8, 8))
    expected = trained()
    for one in (graph, matrix, matrix.tocsr(), BOTH.T, BOTH.tolist()):
        assert rung.train(one, features=X, labels=Y, splits=SPLIT, **SMALL) == expected
    of_sparse = rung.train(BOTH, features=sparse.csr_array(X), labels=Y, splits=SPLIT, **SMALL)
    assert of_sparse == expected
    masks = {name: np.isin(np.arange(8), nodes) for name, nodes in SPLIT.items()}
    assert rung.train(BOTH, features=X, labels=np.array(Y, np.int16), splits=masks, **SMALL) == expected


def test_the_masks_of_a_pyg_graph_are_its_splits() -> None:
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    masks = {f"{name}_mask": torch.from_numpy(np.isin(np.arange(8), nodes)) for name, nodes in SPLIT.items()}
    graph = data.Data(edge_index=torch.from_numpy(BOTH), num_nodes=8, **masks)
    assert rung.train(graph, features=torch.from_numpy(X), labels=Y, **SMALL) == trained()
    two = {name: torch.stack([mask, mask], dim=1) for name, mask in masks.items()}
    several = data.Data(edge_index=torch.from_numpy(BOTH), num_nodes=8, **two)
    with pytest.raises(cp.UsageError, match="split"):
        rung.train(several, features=X, labels=Y, **SMALL)
    assert rung.train(several, features=X, labels=Y, split=1, splits="masks", **SMALL) == trained()


def test_a_model_says_what_it_is_and_travels(tmp_path: pathlib.Path) -> None:
    model = trained(seed=3)
    assert repr(model) == "<calipers.rung.Model mcp, weights legacy, gamma 6, 3 features to 2 classes>"
    assert model.settings == {
        "penalty": "mcp", "weights": "legacy", "gamma": 6.0, "lambda_hat": 0.9, "layers": 10, "scad_a": 3.7,
        "scad_scale": "one", "dropout": 0.5, "seed": 3, "epochs": 20,
    }  # fmt: skip
    assert {name: array.shape for name, array in model.tensors.items()} == {
        "mlp.0.weight": (4, 3), "mlp.0.bias": (4,), "mlp.1.weight": (2, 4), "mlp.1.bias": (2,)}  # fmt: skip
    assert {array.dtype for array in model.tensors.values()} == {np.dtype(np.float32)}
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert other == model
    assert model != trained(seed=4)
    with pytest.raises(cp.UsageError, match="safetensors"):
        model.save(tmp_path / "model.bin")


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_a_model_goes_into_the_functions_of_the_document() -> None:
    torch = pytest.importorskip("torch")
    model = trained()
    clean = np.zeros((8, 8))
    clean[tuple(BOTH)] = 1
    attacked = clean.copy()
    attacked[0, 4] = attacked[4, 0] = 1
    expected = rung.forward(
        BOTH, model, features=X, labels=Y, splits=SPLIT, flips={0.2: [[0, 4]]}
    )  # fmt: skip
    scores = model(clean, X)
    assert scores.dtype == np.float64
    assert np.array_equal(scores, expected["clean"])
    for graph in (BOTH, torch.from_numpy(clean), torch.from_numpy(clean).to_sparse_csr(),
                  torch.from_numpy(clean).bfloat16()):  # fmt: skip
        assert np.array_equal(model.get_aggregated_features(graph, X), scores)
    found = rung.compute_estimation_bias(model, clean, X, attacked)
    assert found[:2] == cp.robustness.estimation_bias(expected["clean"], expected["attacked"]["0.2"])[:2]
    test = SPLIT["test"]
    accuracies = rung.compute_clean_and_attacked_accuracy(model, clean, attacked, X, Y, test)
    assert accuracies[0] == (scores.argmax(1) == Y)[test].mean()
    loaded = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    assert next(iter(loaded)) == "mlp.linears.0.weight"
    assert np.array_equal(loaded["mlp.linears.0.weight"], model.tensors["mlp.0.weight"])


def test_a_state_dict_of_torch_is_loaded_with_its_settings(tmp_path: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    model = trained()
    torch.save(model.state_dict(), tmp_path / "m.pt")
    with pytest.raises(cp.InputError, match="penalty, weights, gamma"):
        rung.load(tmp_path / "m.pt")
    read = rung.load(tmp_path / "m.pt", penalty="mcp", weights="legacy", gamma=6)
    assert np.array_equal(read(BOTH, X), model(BOTH, X))
    model.save(tmp_path / "m.safetensors")
    with pytest.warns(UserWarning, match="penalty_replaced: .*gamma 6 by 3"):
        assert rung.load(tmp_path / "m.safetensors", gamma=3).settings["gamma"] == 3


@QUIET
def test_a_reproduction_writes_what_the_command_writes(folder: pathlib.Path) -> None:
    words = "--penalties l1,l2 --budgets 0.2 --epochs 5 --steps 3 --samples 2 --splits stratified:1"
    command(f"reproduce --graph synthetic {words} --out a")
    options: dict[str, Any] = {
        "penalties": ["l1", "l2"],
        "budgets": [0.2],
        "epochs": 5,
        "splits": "stratified:1",
    }
    found = rung.reproduce(out="b", steps=3, samples=2, **options)
    for file in ("report.json", "figure6.csv", "figure6.svg", "expectations.json"):
        assert (folder / "a" / file).read_bytes().replace(b"a/", b"b/") == (folder / "b" / file).read_bytes()
    assert [report.protocol["model"] for report in found.reports] == ["l1", "l2"]
    assert cp.to_json(found.reports) == (folder / "b" / "report.json").read_text()
    assert found.out == pathlib.Path("b")
    assert len(repr(found)) <= 100
    # A graph in memory is kept beside what was made of it, and nothing else goes on there.
    inside: dict[str, Any] = {"features": X, "labels": Y, "out": "c", "steps": 2, "samples": 1, **options}
    first = rung.reproduce(BOTH, **inside)
    assert rung.reproduce(BOTH, resume=True, **inside).reports == first.reports
    assert cp.verify("c/report.json") == []
    with pytest.raises(cp.InputError, match="go on with what is there: resume"):
        rung.reproduce(BOTH, **inside)
    with pytest.raises(cp.InputError, match="graph file"):
        rung.reproduce(BOTH, resume=True, **{**inside, "features": X + 1})


@QUIET
def test_progress_counts_and_what_it_raises_ends_the_work() -> None:
    told: list[tuple[int, int | None]] = []
    trained(progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 20)
    assert told[-1] == (20, 20)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    told.clear()
    rung.attack(BOTH, trained(), [0.2, 0.3], features=X, labels=Y, splits=SPLIT,
                progress=lambda *counts: told.append(counts), **SEARCH)  # fmt: skip
    assert told[0][0] == 0
    assert all(total == told[0][1] for _, total in told)
    assert told[-1][0] <= (told[-1][1] or 0)

    def broken(done: int, total: int | None) -> None:
        if done == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        trained(progress=broken)


@pytest.mark.filterwarnings("default")
def test_warnings_speak_of_arguments(folder: pathlib.Path) -> None:
    with pytest.warns(UserWarning, match='under_budget: .*try gradient="full"'):
        rung.attack(BOTH, trained(), 0.2, features=X, labels=Y, splits=SPLIT, **SEARCH)
    with pytest.warns(UserWarning, match="class_not_trained: no train node is of class 1"):
        trained(splits={"train": [0]})


GRAPH: dict[str, Any] = {"features": X, "labels": Y, "splits": SPLIT}
WRONG: list[tuple[str, dict[str, Any], type[Exception], list[str]]] = [
    ("train", {"penalti": "l1"}, TypeError, ["penalti", "did you mean penalty?"]),
    ("train", {"penalty": "mcq"}, cp.UsageError, ["penalty", "mcq", "mcp"]),
    ("train", {"penalty": None}, cp.UsageError, ["penalty", "missing"]),
    ("train", {"gamma": None}, cp.UsageError, ["gamma"]),
    ("train", {"gamma": -1}, cp.UsageError, ["gamma", "-1"]),
    ("train", {"lr": 0}, cp.UsageError, ["lr", "0"]),
    ("train", {"dropout": 1}, cp.UsageError, ["dropout", "1"]),
    ("train", {"hidden": "x"}, cp.UsageError, ["hidden", "x"]),
    ("train", {"epochs": "x"}, cp.UsageError, ["epochs", "x", "whole"]),
    ("train", {"out": "x"}, TypeError, ["out"]),
    ("train", {"features": None}, cp.UsageError, ["features"]),
    ("train", {"labels": None}, cp.InputError, ["labels"]),
    ("train", {"features": X[:7]}, cp.InputError, ["graph", "7"]),
    ("train", {"labels": [0] * 7}, cp.InputError, ["labels", "7"]),
    ("train", {"labels": [0.5] * 8}, cp.InputError, ["labels", "0.5"]),
    ("train", {"features": X * np.nan}, cp.InputError, ["graph"]),
    ("train", {"splits": {"trian": [0]}}, TypeError, ["splits['trian']", "train"]),
    ("train", {"splits": {"train": []}}, cp.InputError, ["splits", "train"]),
    ("train", {"splits": {"train": [8]}}, cp.InputError, ["splits", "8"]),
    ("train", {"splits": "missing.json"}, cp.FileError, ["splits", "missing.json"]),
    ("train", {"splits": None}, cp.UsageError, ["splits", "stratified"]),
    ("train", {"splits": 3}, cp.InputTypeError, ["splits"]),
    ("train", {"graph": "missing.npz", "features": None, "labels": None}, cp.FileError, ["graph"]),
    ("train", {"graph": "missing.npz"}, cp.InputTypeError, ["features", "path"]),
    ("train", {"graph": [[0], [1]]}, cp.InputError, ["graph", "reverse"]),
    ("train", {"graph": [[0, 1], [0, 1]]}, cp.InputError, ["graph", "loop"]),
    ("attack", {"budgets": "x"}, cp.UsageError, ["budgets", "x"]),
    ("attack", {"budgets": [0.1, "0.10"]}, cp.UsageError, ["budgets", "twice"]),
    ("attack", {"model": 3}, cp.InputTypeError, ["model"]),
    ("attack", {"model": "missing.pt"}, cp.FileError, ["path", "missing.pt"]),
    ("attack", {"penalty": "l1"}, cp.UsageError, ["penalty"]),
    ("attack", {"method": "x"}, cp.UsageError, ["method", "pgd"]),
    ("attack", {"block_size": 3}, cp.UsageError, ["block_size", 'method="prbcd"']),
    ("attack", {"features": X[:, :2]}, cp.InputError, ["model", "2"]),
    ("attack", {"attack_memory": 8, "budgets": 0.3}, cp.InputError, ["8"]),
    ("forward", {"flips": {0.1: [[0, 8]]}}, cp.InputError, ["flips", "0.1"]),
    ("forward", {"flips": {0.1: "missing.npy"}}, cp.FileError, ["missing.npy"]),
    ("forward", {"flips": [[0, 1]]}, cp.InputTypeError, ["flips"]),
    ("forward", {"attacked": {0.1: [[0], [1]]}}, cp.InputError, ["attacked", "0.1"]),
    ("reproduce", {"penalties": "x"}, cp.UsageError, ["penalties", "x"]),
    ("reproduce", {"quick": 1}, cp.InputTypeError, ["quick"]),
    ("reproduce", {"splits": {"train": [0]}}, cp.InputTypeError, ["splits"]),
]


@pytest.mark.filterwarnings("ignore:`graph` of shape")
@pytest.mark.parametrize("at", range(len(WRONG)))
def test_a_wrong_call_names_the_argument_and_changes_nothing(at: int, tmp_path: pathlib.Path) -> None:
    function, change, kind, words = WRONG[at]
    given: dict[str, Any] = {"graph": BOTH, **GRAPH}
    if function == "train":
        given.update(SMALL)
    elif function != "reproduce":
        given.update(model=trained())
    if function == "attack":
        given.update(budgets=[0.2], **SEARCH)
    if function == "reproduce":
        given.update(out=tmp_path / "out", splits="stratified:1")
    with pytest.raises(kind) as caught:
        getattr(rung, function)(**{**given, **change})
    said = str(caught.value)
    assert all(word in said for word in words), said
    assert "--" not in said, said
    assert not (tmp_path / "out").exists()

"""The RUNG network: trained, loaded, attacked and run, with the words and the bytes of the command line."""

from __future__ import annotations

import json
import os
import pathlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers import _calipers
from calipers._errors import UsageError
from calipers._extras import library
from calipers._inputs.arguments import flag, table, wrong_type
from calipers._inputs.arrays import ArrayLike, plain
from calipers._inputs.graphs import Graph, edges, is_sparse_tensor
from calipers._inputs.paths import Path, path_text
from calipers._report import Report
from calipers._rung import graph_models
from calipers.robustness import Budget, budget_text

Progress: TypeAlias = bool | Callable[[int, "int | None"], object]
"""Nobody is told (`False`), a bar on a terminal (`True`), or a callable `f(done, total)`."""
Splits = str | os.PathLike[str] | Mapping[str, ArrayLike]
"""A file, "masks", "stratified:S", or train, val and test nodes as numbers or masks."""

_OF_THE_FILE = ("penalty", "weights", "gamma", "lambda_hat", "layers", "scad_a", "scad_scale")


class Model:
    """A RUNG model, which `train` and `load` make. It is called with a graph and the features of its nodes.

    >>> import numpy as np
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> X, y = np.eye(6), [0, 0, 0, 1, 1, 1]
    >>> nodes = {"train": range(6)}
    >>> graph = np.argwhere(ring)
    >>> model = train(graph, features=X, labels=y, splits=nodes, penalty="l2", weights="exact", epochs=5)
    >>> model, model(ring, X).shape
    (<calipers.rung.Model l2, weights exact, 6 features to 2 classes>, (6, 2))
    """

    def __init__(self, made: _calipers.RungModel) -> None:
        """Take a model of the extension; `train` and `load` do this."""
        self._made = made

    @property
    def settings(self) -> dict[str, Any]:
        """How it propagates and, where that is known, how it was trained, by the words of `train`."""
        found: dict[str, Any] = {}
        for name, said in self._made.settings():
            if name not in ("model", "format"):
                as_number = name not in ("penalty", "weights", "scad_scale")
                found["layers" if name == "k" else name] = json.loads(said) if as_number else said
        for name in ("gamma", "lambda_hat", "scad_a", "dropout"):
            if name in found:
                found[name] = float(found[name])
        return found

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """The weights by name, as a safetensors file has them."""
        return dict(self._made.tensors())

    def state_dict(self) -> dict[str, Any]:
        """Return the weights as torch has them, under the names of the published models."""
        torch = library("torch", "a state dict")
        named = self.tensors.items()
        return {name.replace("mlp.", "mlp.linears.", 1): torch.from_numpy(array) for name, array in named}

    def save(self, path: Path) -> None:
        """Write safetensors, or a state dict of torch (.pt), which does not say the settings."""
        self._made.save(path_text(path, "path"))

    def __call__(self, A: Any, X: Any) -> npt.NDArray[np.float64]:
        """Return the class scores [N, C], the same for any number of threads."""
        entries, nodes = graph_models.simple_edges(A)
        return self._made.forward(entries, _dense(X), nodes)

    def get_aggregated_features(self, A: Any, X: Any) -> npt.NDArray[np.float64]:
        """Return the features of the last step, which are the class scores."""
        return self(A, X)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._made.to_bytes() == other._made.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        said, tensors = self.settings, list(self.tensors.values())
        gamma = f", gamma {said['gamma']:g}" if "gamma" in said else ""
        sizes = f"{tensors[0].shape[1]} features to {tensors[-1].shape[0]} classes"
        return f"<calipers.rung.Model {said['penalty']}, weights {said['weights']}{gamma}, {sizes}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_bytes, (self._made.to_bytes(),)


def _of_bytes(data: bytes) -> Model:
    return Model(_calipers.RungModel.from_bytes(data))


def load(path: Path, **options: Any) -> Model:
    """Read a model from safetensors or from a state dict of torch (.pt).

    A state dict does not say how it propagates: `penalty`, `weights`, `gamma`, `lambda_hat`, `layers`,
    `scad_a`, `scad_scale` do. They win over what a safetensors file says, with a warning.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> train("synthetic", splits="stratified:1", penalty="l1", weights="exact", epochs=2).save(path)
    >>> load(path).settings["penalty"]
    'l1'
    """
    made, said = _calipers.rung_load(path, options)
    _warn(said)
    return Model(made)


def train(
    graph: Graph | Path,
    *,
    features: ArrayLike | Path | None = None,
    labels: ArrayLike | Path | None = None,
    splits: Splits | None = None,
    progress: Progress = False,
    **options: Any,
) -> Model:
    """Train a model, as `calipers robustness train` does with the same words.

    `graph` is a graph file, "synthetic", or a graph with `features` and `labels`. The options:

    * graph: `prepare` ("none" or "rung"); splits: `split`, `seeds`, `shares`
    * model: `penalty`, `weights`, `gamma`, `lambda_hat`, `layers`, `scad_a`, `scad_scale`
    * training: `hidden`, `epochs`, `dropout`, `lr`, `weight_decay`, `seed`; work: `threads`

    >>> model = train("synthetic", splits="stratified:1", penalty="mcp", weights="exact", gamma=6, epochs=2)
    >>> model.settings["gamma"], model.tensors["mlp.0.weight"].shape
    (6.0, (64, 32))
    """
    given = _given(graph, features, labels, options)
    made, said = _calipers.rung_train(options, given, _splits(splits, options), progress)
    _warn(said)
    return Model(made)


def attack(
    graph: Graph | Path,
    model: Model | Path,
    budgets: Budget | Sequence[Budget],
    *,
    features: ArrayLike | Path | None = None,
    labels: ArrayLike | Path | None = None,
    splits: Splits | None = None,
    progress: Progress = False,
    **options: Any,
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the pairs of nodes to toggle for each budget, (k, 2), as `calipers robustness attack` does.

    The targets are the test nodes of the split. The options are those of `train` for graph and splits, those
    of `load` where `model` is a file, and `method` ("pgd", "prbcd" or "random"), `gradient` ("detached" or
    "full"), `steps`, `samples`, `seed`, `attack_memory`, `block_size`, `threads`.

    >>> model = train("synthetic", splits="stratified:1", penalty="l2", weights="exact", epochs=2)
    >>> flips = attack("synthetic", model, 0.05, splits="stratified:1", method="random")
    >>> {budget: pairs.shape for budget, pairs in flips.items()}
    {'0.05': (16, 2)}
    """
    made = _model(model, options)
    listed = [budgets] if isinstance(budgets, str) or not hasattr(budgets, "__iter__") else list(budgets)
    options["budgets"] = [budget_text(one) for one in listed]
    given = _given(graph, features, labels, options)
    flips, said = _calipers.rung_attack(made, options, given, _splits(splits, options), progress)
    _warn(said)
    return dict(flips)


def forward(
    graph: Graph | Path,
    model: Model | Path,
    *,
    flips: Mapping[Any, ArrayLike | Path] | None = None,
    attacked: Mapping[Any, Graph | Path] | None = None,
    features: ArrayLike | Path | None = None,
    labels: ArrayLike | Path | None = None,
    splits: Splits | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return the features on the clean graph and on attacked ones, for `robustness.Evaluator.update`.

    Attacked graphs come by budget: as pairs to toggle (`flips`) or as graphs (`attacked`), in memory or in
    files. The options are those of `train` for graph and splits, those of `load` where `model` is a file, and
    `threads`.

    >>> import calipers as cp
    >>> split = {"splits": "stratified:1"}
    >>> model = train("synthetic", **split, penalty="l2", weights="exact", epochs=2)
    >>> arrays = forward("synthetic", model, **split, flips=attack("synthetic", model, 0.1, **split, steps=2))
    >>> acc = cp.robustness.Evaluator()
    >>> acc.update("split0", **arrays)
    >>> list(acc.report()["bias_curve"])
    ['0.1']
    """
    made = _model(model, options)
    in_memory = [
        *_conditions("flips", flips, options),
        *((budget, False, edges(one, "attacked").edge_index)
          for budget, _, one in _conditions("attacked", attacked, options)),
    ]  # fmt: skip
    given = _given(graph, features, labels, options)
    arrays, said = _calipers.rung_forward(made, options, given, _splits(splits, options), in_memory)
    _warn(said)
    run: dict[str, Any] = {"attacked": {}}
    for key, array in arrays.items():
        kind, _, budget = key.rpartition("_")
        if kind in ("attacked", "flips", "edges_attacked"):
            run.setdefault(kind, {})[budget] = array
        else:
            run[key] = array
    return run


class Reproduction(NamedTuple):
    """The reports of the penalties, what the document expects of them, and the folder of all files."""

    reports: list[Report]
    expectations: list[dict[str, Any]]
    out: pathlib.Path

    def __repr__(self) -> str:
        held = sum(one["held"] is True for one in self.expectations)
        return f"<calipers.rung.Reproduction, {len(self.reports)} reports, {held} expectations held>"


def reproduce(
    graph: Graph | Path = "synthetic",
    *,
    out: Path,
    features: ArrayLike | Path | None = None,
    labels: ArrayLike | Path | None = None,
    splits: str | os.PathLike[str] | None = None,
    quick: bool = False,
    resume: bool = False,
    progress: Progress = False,
    **options: Any,
) -> Reproduction:
    """Train, attack and measure several penalties below `out`, as `calipers robustness reproduce` does.

    A graph in memory is written to `graph.npz` there. The options: `prepare`, `split`, `seeds`, `penalties`,
    `weights`, `gamma`, `budgets`, `epochs`, `steps`, `samples`, `threads`.

    >>> import pathlib, tempfile
    >>> small = {"penalties": "l1,l2", "budgets": [0.1], "epochs": 2, "steps": 2, "samples": 1}
    >>> found = reproduce(out=pathlib.Path(tempfile.mkdtemp()) / "figures", **small)
    >>> [report.units for report in found.reports], found.expectations[0]["id"]
    ([1, 1], 'l1_linear')
    """
    folder = pathlib.Path(path_text(out, "out"))
    if splits is not None and not isinstance(splits, str | os.PathLike):
        raise wrong_type("splits", splits, "a file of splits, 'masks' or 'stratified:S'")
    if "budgets" in options and not isinstance(options["budgets"], str):
        listed = options["budgets"] if hasattr(options["budgets"], "__iter__") else [options["budgets"]]
        options["budgets"] = [budget_text(one) for one in listed]
    given = _given(graph, features, labels, options)
    options.update(
        out=folder, splits=splits, quick=flag("quick", quick), resume=flag("resume", resume)
    )  # fmt: skip
    texts = _calipers.rung_reproduce(options, given, progress)
    expectations = json.loads((folder / "expectations.json").read_text(encoding="utf-8"))
    return Reproduction([Report(text) for text in texts], expectations, folder)


def _warn(said: list[str]) -> None:
    for text in said:
        warnings.warn(text, UserWarning, stacklevel=3)


def _model(model: Model | Path, options: dict[str, Any]) -> _calipers.RungModel:
    """Return the model, or that of a file under the options that say how it propagates."""
    of_the_file = {name: options.pop(name) for name in _OF_THE_FILE if name in options}
    if not isinstance(model, Model):
        if not isinstance(model, str | os.PathLike):
            raise wrong_type("model", model, "a Model, or the path of one")
        return load(model, **of_the_file)._made
    for name in of_the_file:
        raise UsageError(
            f"{name} is that of the model already\n    found: {name}={of_the_file[name]!r}\n"
            "     help: leave it out, or load the model with it"
        )
    return model._made


def _given(
    graph: Any, features: Any, labels: Any, options: dict[str, Any]
) -> tuple[dict[str, Any], int | None] | None:
    """Return the arrays of a graph in memory; what is a file becomes an option."""
    beside = {"features": features, "labels": labels}
    if isinstance(graph, str | os.PathLike):
        options["graph"] = graph
        options.update({f"{name}_file": path_text(of, name) for name, of in beside.items() if of is not None})
        return None
    for name in ("features_file", "labels_file"):
        if name in options:
            raise UsageError(
                f"{name} goes with a graph file\n    found: {name}={options[name]!r}\n"
                f"     help: give the array as {name.removesuffix('_file')}"
            )
    if features is None:
        raise UsageError("features is missing\n     help: a graph in memory needs one row for each node")
    found = edges(graph, "graph")
    arrays = {"edge_index": found.edge_index, "features": _dense(features), "labels": labels}
    for name in ("train_mask", "val_mask", "test_mask"):
        mask = getattr(graph, name, None)
        if mask is not None:
            # PyG keeps several splits in columns.
            one = plain(mask, name)[0]
            arrays[name + "s" * (one.ndim - 1)] = one.T
    return arrays, found.num_nodes


def _dense(features: Any) -> Any:
    if hasattr(features, "tocoo"):
        return features.toarray()
    return features.to_dense() if is_sparse_tensor(features) else features


def _splits(splits: Any, options: dict[str, Any]) -> dict[str, Any] | None:
    """Return the sets of one split in memory; anything else becomes an option."""
    if not isinstance(splits, Mapping):
        if splits is not None:
            options["splits"] = path_text(splits, "splits")
        return None
    sets = {}
    for name, of in table("splits", splits, ("train", "val", "test")).items():
        nodes = plain(list(of) if isinstance(of, range) else of, f"splits['{name}']")[0]
        sets[f"{name}_mask" if nodes.dtype.kind == "b" else f"{name}_idx"] = nodes
    return sets


def _conditions(name: str, given: Any, options: dict[str, Any]) -> list[tuple[str, bool, Any]]:
    """Return what is in memory, by budget; files become an option."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise wrong_type(name, given, "a mapping from budgets")
    files, arrays = [], []
    for budget, one in given.items():
        if isinstance(one, str | os.PathLike):
            files.append(f"{budget_text(budget)}={os.fspath(one)}")
        else:
            arrays.append((budget_text(budget), name == "flips", one))
    if files:
        options[name] = files
    return arrays

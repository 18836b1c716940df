"""Forward passes of an explainer, with and without the explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers import _calipers
from calipers._errors import InputError

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.explain import Explainer, Explanation

_TASKS = {
    "multiclass_classification": "multiclass",
    "binary_classification": "binary",
    "regression": "regression",
}
_SCORES = {"raw": "logits", "probs": "probs", "log_probs": "log_probs"}


def _word(member: Any) -> Any:
    """Return the value of an enum member; a string is its own value."""
    return getattr(member, "value", member)


def fidelity(explainer: Explainer, explanation: Explanation) -> tuple[float, float]:
    """Return fid+ and fid-: how many labels change without the explanation, and with it alone."""
    _refuse_regression(explainer)
    graph, masks, kwargs = _parts(explanation)
    y, y_hat = explanation.target, None
    if _word(explainer.explanation_type) == "phenomenon":
        y_hat = explainer.get_target(explainer.get_prediction(*graph, **kwargs))
    y_sub = explainer.get_target(explainer.get_masked_prediction(*graph, *masks, **kwargs))
    y_comp = explainer.get_target(explainer.get_masked_prediction(*graph, *_rest(masks), **kwargs))
    index = explanation.get("index")
    if index is not None:
        y, y_sub, y_comp = y[index], y_sub[index], y_comp[index]
        y_hat = None if y_hat is None else y_hat[index]
    return _changed(y, y_hat, y_sub, y_comp)


def _changed(y: Tensor, y_hat: Tensor | None, y_sub: Tensor, y_comp: Tensor) -> tuple[float, float]:
    import torch

    found = _calipers.pyg_fidelity(torch.Tensor, y, y_hat, y_sub, y_comp)
    if found is not None:
        return found
    if y_hat is None:
        plus, minus = (1.0 - (other == y).float().mean() for other in (y_comp, y_sub))
    else:
        right = (y_hat == y).float()
        plus, minus = ((right - (other == y).float()).abs().mean() for other in (y_comp, y_sub))
    return float(plus), float(minus)


def unfaithfulness(explainer: Explainer, explanation: Explanation, top_k: int | None = None) -> float:
    """Return 1 - exp(-KL) between the predictions with the explanation alone and on the full graph.

    With `top_k` only the features with the largest summed node mask are kept.
    """
    _refuse_regression(explainer)
    _refuse_top_k(explainer, top_k)
    graph, (node_mask, edge_mask), kwargs = _parts(explanation)
    y = explanation.get("prediction")
    if y is None:
        y = explainer.get_prediction(*graph, **kwargs)
    if node_mask is not None and top_k is not None:
        node_mask = _each(node_mask, lambda mask: _top_features(mask, top_k))
    y_hat = explainer.get_masked_prediction(*graph, node_mask, edge_mask, **kwargs)
    index = explanation.get("index")
    if index is not None:
        y, y_hat = y[index], y_hat[index]
    return _divergence(y, y_hat, _word(explainer.model_config.return_type))


def _divergence(y: Tensor, y_hat: Tensor, kind: str) -> float:
    import torch

    found = _calipers.pyg_unfaithfulness(torch.Tensor, y, y_hat, kind)
    if found is not None:
        return found
    if kind == "raw":
        y, y_hat = y.softmax(dim=-1), y_hat.softmax(dim=-1)
    elif kind == "log_probs":
        y, y_hat = y.exp(), y_hat.exp()
    kl = torch.nn.functional.kl_div(y.log(), y_hat, reduction="batchmean")
    return 1 - float(torch.exp(-kl))


def _refuse_regression(explainer: Explainer) -> None:
    if _word(explainer.model_config.mode) == "regression":
        raise InputError("Fidelity not defined for 'regression' models")


def _refuse_top_k(explainer: Explainer, top_k: int | None) -> None:
    if top_k is not None and _word(explainer.node_mask_type) == "object":
        raise InputError("Cannot apply top-k feature selection based on a node mask of type 'object'")


def _parts(explanation: Any) -> tuple[tuple[Any, Any], tuple[Any, Any], dict[str, Any]]:
    """Return the graph, the masks of nodes and edges, and the model's other arguments.

    Those of a heterogeneous graph are dicts by type, and its explanation does not keep the other arguments.
    """
    if not _has_types(explanation):
        masks = explanation.get("node_mask"), explanation.get("edge_mask")
        kwargs = {key: explanation[key] for key in explanation._model_args}
        return (explanation.x, explanation.edge_index), masks, kwargs
    nodes, edges = dict(explanation.node_items()), dict(explanation.edge_items())
    graph = (
        {key: store["x"] for key, store in nodes.items()},
        {key: store["edge_index"] for key, store in edges.items()},
    )
    return graph, (_by_type(nodes, "node_mask"), _by_type(edges, "edge_mask")), {}


def _has_types(explanation: Any) -> bool:
    return hasattr(type(explanation), "node_items")


def _rest(masks: tuple[Any, Any]) -> list[Any]:
    """Return the masks of what is not part of the explanation."""
    return [None if mask is None else _each(mask, lambda mask: 1.0 - mask) for mask in masks]


def _top_features(node_mask: Tensor, top_k: int) -> Tensor:
    import torch

    columns = node_mask.sum(dim=0).topk(top_k).indices
    kept = torch.zeros_like(node_mask)
    kept[:, columns] = 1.0
    return kept


def evidence(
    explainer: Explainer, explanation: Explanation, top_k: int | None = None, **model_args: Any
) -> dict[str, Any]:
    """Run the three forward passes and return the arrays for `calipers.explanation`.

        acc = calipers.explanation.Evaluator(**options(explainer))
        acc.update("molecule 7", **evidence(explainer, explanation))

    The keys are y_hat, y_sub, y_comp and pred_mask by type, y where the explanation is of the phenomenon,
    index where the explanation has one. Explanations of heterogeneous graphs do not keep the model's other
    arguments: give them as `model_args`.
    """
    _refuse_top_k(explainer, top_k)
    graph, (node_mask, edge_mask), stored = _parts(explanation)
    model_args = {**stored, **model_args}
    if _has_types(explanation):
        pred_mask = {**(node_mask or {}), **(edge_mask or {})}
    else:
        given = {"node": node_mask, "edge": edge_mask}
        pred_mask = {key: mask for key, mask in given.items() if mask is not None}
    if top_k is not None and node_mask is not None:
        node_mask = _each(node_mask, lambda mask: _top_features(mask, top_k))
    masks = (node_mask, edge_mask)
    found = {
        "y_hat": explainer.get_prediction(*graph, **model_args),
        "y_sub": explainer.get_masked_prediction(*graph, *masks, **model_args),
        "y_comp": explainer.get_masked_prediction(*graph, *_rest(masks), **model_args),
        "pred_mask": pred_mask,
    }
    if _word(explainer.explanation_type) == "phenomenon":
        found["y"] = explanation.target
    index = getattr(explanation, "index", None)
    if index is not None:
        found["index"] = [index] if isinstance(index, int) else index.reshape(-1)
    return found


def _by_type(stores: dict[Any, Any], key: str) -> dict[Any, Any] | None:
    masks = {name: store[key] for name, store in stores.items() if key in store}
    return masks or None


def _each(mask: Any, change: Any) -> Any:
    return {key: change(one) for key, one in mask.items()} if isinstance(mask, dict) else change(mask)


def options(explainer: Explainer) -> dict[str, str]:
    """Return the task and what the scores are, for `calipers.explanation.Evaluator`."""
    config = explainer.model_config
    task = _TASKS[_word(config.mode)]
    return (
        {"task": task}
        if task == "regression"
        else {"task": task, "scores": _SCORES[_word(config.return_type)]}
    )

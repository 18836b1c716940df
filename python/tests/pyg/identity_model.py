"""An explainer whose model predicts its own input, in the attributes that `calipers.pyg` uses."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any

import torch


class Mode(enum.Enum):
    """What the model predicts."""

    BINARY = "binary_classification"
    MULTICLASS = "multiclass_classification"
    REGRESSION = "regression"


class IdentityExplainer:
    """Predicts `x` on the full graph and `node_mask * x` with the explanation alone."""

    def __init__(
        self,
        mode: str = "multiclass_classification",
        return_type: str = "raw",
        explanation_type: str = "model",
        node_mask_type: str | None = "attributes",
        model: str = "identity",
    ) -> None:
        # One enum member and words otherwise: both are taken.
        self.model_config = SimpleNamespace(mode=Mode(mode), return_type=return_type)
        self.explanation_type = explanation_type
        self.node_mask_type = node_mask_type
        self.squeeze = model == "squeeze"

    def get_prediction(self, x: Any, edge_index: Any) -> Any:
        """Return the input."""
        return x.squeeze(-1) if self.squeeze else x

    def get_masked_prediction(
        self, x: Any, edge_index: Any, node_mask: Any = None, edge_mask: Any = None
    ) -> Any:
        """Return the masked input."""
        return self.get_prediction(x if node_mask is None else node_mask * x, edge_index)

    def get_target(self, prediction: Any) -> Any:
        """Return the labels of scores."""
        if self.model_config.mode is Mode.BINARY:
            middle = 0 if self.model_config.return_type == "raw" else 0.5
            return (prediction > middle).long().view(-1)
        return prediction.argmax(dim=-1) if self.model_config.mode is Mode.MULTICLASS else prediction


class IdentityExplanation:
    """Tensors by name."""

    _model_args: tuple[str, ...] = ()

    def __init__(self, **tensors: Any) -> None:
        self.edge_index = torch.tensor([[0], [1]])
        self.edge_mask = None
        self.__dict__.update(tensors)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a tensor, if there is one of that name."""
        return getattr(self, key, default)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

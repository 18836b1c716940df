"""Callbacks that measure a run while it trains: velocity, stability and divergence of the curve so far.

    from calipers.callbacks import Lightning    # lightning.pytorch.Callback, or pytorch_lightning.Callback
    from calipers.callbacks import HuggingFace  # transformers.TrainerCallback
    from calipers.callbacks import Keras        # keras.callbacks.Callback

    trainer = Trainer(callbacks=[Lightning("val_F1", group="large", fold="0", state="large-0.state")])

After each validation `now` is `calipers.training.measure` of the values so far. At the end the state is
written: those of five folds merge with `calipers merge`. Importing this module imports none of the libraries.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calipers.callbacks._hugging_face import HuggingFace
    from calipers.callbacks._keras import Keras
    from calipers.callbacks._lightning import Lightning

__all__ = ["HuggingFace", "Keras", "Lightning"]

_MODULES = {"HuggingFace": "_hugging_face", "Keras": "_keras", "Lightning": "_lightning"}


def __getattr__(name: str) -> Any:
    """Import the library of a callback when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module 'calipers.callbacks' has no '{name}'; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"calipers.callbacks.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Name the callbacks, imported or not."""
    return sorted(__all__)

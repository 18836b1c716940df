"""A callback for Lightning's `Trainer`."""

from __future__ import annotations

import os
from typing import Any

from calipers._extras import missing
from calipers.callbacks._curve import Curve, defined

try:
    from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback
    except ImportError as error:
        raise missing("calipers.callbacks.Lightning", "lightning", error) from error


class Lightning(Curve, Callback):
    """Takes the value named `metric` after each validation, but for the sanity check.

    >>> Lightning("val_F1", group="large", fold="0")
    <calipers.callbacks.Lightning, val_F1, 0 values>
    """

    def __init__(
        self,
        metric: str,
        *,
        group: str = "all",
        fold: str = "0",
        threshold: float = 0.9,
        state: str | os.PathLike[str] | None = None,
        log: bool = True,
        prefix: str = "calipers/",
        **options: Any,
    ) -> None:
        """Take the options of `calipers.training.Evaluator`; with `state`, write the state there at the end.

        With `log`, the numbers so far go to the trainer's loggers, `prefix` before their names.
        """
        super().__init__()
        self._begin(metric, group, fold, threshold, state, log, prefix, options)

    @property
    def state_key(self) -> str:
        """The name of this callback's part of a checkpoint."""
        return f"calipers.callbacks.Lightning[{self.metric}, {self.group}/{self.fold}]"

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Take the value, which by now is that of the whole validation epoch."""
        if trainer.sanity_checking or trainer.state.fn != "fit":
            return
        value = trainer.callback_metrics.get(self.metric)
        if value is None:
            return
        numbers = defined(self._take(value, trainer.current_epoch))
        for logger in trainer.loggers if numbers else []:
            logger.log_metrics(numbers, step=trainer.global_step)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """Write the state, on the first process."""
        self._finish(set(trainer.callback_metrics), writes=trainer.is_global_zero)

    def state_dict(self) -> dict[str, Any]:
        """Return the curve for a checkpoint."""
        return {"values": list(self.values), "epochs": list(self._epochs)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue the curve of a checkpoint."""
        self._restore(list(state_dict["values"]), list(state_dict["epochs"]))

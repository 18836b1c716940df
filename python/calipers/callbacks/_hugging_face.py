"""A callback for the `Trainer` of transformers."""

from __future__ import annotations

import os
import sys
from typing import Any

from calipers._extras import missing
from calipers.callbacks._curve import Curve, defined

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise missing("calipers.callbacks.HuggingFace", "transformers", error) from error


class HuggingFace(Curve, TrainerCallback):
    """Takes the value named `metric` after each evaluation while training, with or without `eval_`.

    >>> HuggingFace("f1", group="large", fold="0")
    <calipers.callbacks.HuggingFace, f1, 0 values>
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

        With `log`, the numbers so far go to the trainer's history and reporters, `prefix` before their names.
        """
        super().__init__()
        self._seen: set[str] = set()
        self._trains = False
        self._begin(metric, group, fold, threshold, state, log, prefix, options)

    def _value(self, logged: dict[str, Any]) -> Any:
        return logged.get(self.metric, logged.get(f"eval_{self.metric}"))

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin, or continue with the evaluations that the checkpoint's history holds."""
        known = [entry for entry in state.log_history if self._value(entry) is not None]
        values = [float(self._value(entry)) for entry in known]
        self._restore(values, [float(entry.get("epoch", 0.0)) for entry in known])
        self._trains = True

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        """Take the value."""
        value = self._value(metrics or {})
        self._seen.update(metrics or {})
        if value is None or not self._trains:
            return
        numbers = defined(self._take(value, state.epoch or 0.0))
        if not numbers:
            return
        state.log_history.append({**numbers, "epoch": state.epoch, "step": state.global_step})
        # A callback is not told its trainer: reporters are reached through whoever calls this.
        caller: Any = sys._getframe(1).f_locals.get("self")
        if hasattr(caller, "on_log"):
            caller.on_log(args, state, control, dict(numbers))

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write the state, on the first process."""
        self._trains = False
        self._finish(self._seen, writes=state.is_world_process_zero)

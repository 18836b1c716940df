"""A callback for `Model.fit` of Keras."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from calipers._extras import missing
from calipers.callbacks._curve import Curve

try:
    import keras
except ImportError as error:
    raise missing("calipers.callbacks.Keras", "keras", error) from error


class Keras(Curve, keras.callbacks.Callback):
    """Takes the value named `metric` after each epoch.

    >>> Keras("val_f1", group="large", fold="0")
    <calipers.callbacks.Keras, val_f1, 0 values>
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

        With `log`, the numbers so far join the logs of the epoch, `prefix` before their names. Checkpoints of
        Keras hold no callbacks: the curve lies beside the state, as `<state>.curve.json`, until the end.
        """
        super().__init__()
        self._seen: set[str] = set()
        self._begun = False
        self._begin(metric, group, fold, threshold, state, log, prefix, options)

    @property
    def _beside(self) -> Path | None:
        return None if self._state is None else Path(f"{self._state}.curve.json")

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Wait for the first epoch, which says whether training was resumed."""
        self._begun = False

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Keep the values of earlier epochs, of this process or of one that was stopped."""
        if self._begun:
            return
        self._begun = True
        known = list(zip(self.values, self._epochs, strict=True))
        if not known and epoch and self._beside is not None and self._beside.exists():
            known = [(value, at) for value, at in json.loads(self._beside.read_text())]
        kept = [(value, at) for value, at in known if at < epoch]
        self._restore([value for value, _ in kept], [at for _, at in kept])

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Take the value."""
        logs = {} if logs is None else logs
        self._seen.update(logs)
        if self.metric not in logs:
            return
        logs.update(self._take(logs[self.metric], epoch))
        if self._beside is not None:
            whole = json.dumps(list(zip(self.values, self._epochs, strict=True)))
            written = self._beside.with_name(f"{self._beside.name}.part")
            written.write_text(whole)
            written.replace(self._beside)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Write the state."""
        self._finish(self._seen)
        if self._beside is not None:
            self._beside.unlink(missing_ok=True)

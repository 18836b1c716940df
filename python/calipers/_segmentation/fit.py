"""Weights and temperatures of heads, found on data."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from calipers import _calipers
from calipers._inputs.paths import Path
from calipers._report.explained import Explained


class _Fit(NamedTuple):
    alpha: dict[str, float]
    tau: dict[str, float]
    nll: float
    nll_fitted: float
    nll_holdout: float | None
    nll_holdout_fitted: float | None
    toml: str


class Fit(Explained, _Fit):
    """Weights and temperatures by head, and how surprising the truth is before and after (`nll`).

    Without units that are held back their numbers are `None`, and `undefined` says so.
    """


def fit(
    config: Path,
    *,
    holdout: float = 0.2,
    seed: int = 0,
    threads: int | None = None,
    output: Path | None = None,
    progress: bool | Callable[[int, int | None], object] = False,
) -> Fit:
    r"""Find alpha and tau of every head on the data of a configuration.

    `toml` is the configuration with them, which is also written to `output`. The numbers of the units that
    are held back are `None` without any. Use a validation split, never the data that is reported on.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, values in ("truth", [[0, 1, 0]]), ("pred", [[[3.0, -1, -1]], [[0.0, 0, 0]]]):
    ...     (folder / name).mkdir()
    ...     np.save(folder / name / "one.npy", np.array(values, np.uint8 if name == "truth" else float))
    >>> data = '[data]\ntruth = "truth"\npred = "pred"\n[labels]\noriginal = 2\n'
    >>> _ = (folder / "val.toml").write_text(data + '[[heads]]\nname = "h"\nkind = "logits"\n')
    >>> fitted = fit(folder / "val.toml", holdout=0)
    >>> fitted.alpha, fitted.nll_fitted < fitted.nll, fitted.nll_holdout
    ({'h': 1.0}, True, None)
    """
    given = {"holdout": holdout, "seed": seed, "threads": threads, "output": output}
    heads, used, held_back, toml = _calipers.segmentation_fit(config, given, progress)
    before, after = (None, None) if held_back is None else held_back
    alpha, tau = ({head[0]: head[at] for head in heads} for at in (1, 2))
    made = Fit(alpha, tau, used[0], used[1], before, after, toml)  # type: ignore[arg-type]
    if held_back is None:
        made._reasons = dict.fromkeys(("nll_holdout", "nll_holdout_fitted"), "no unit was held back")
    return made

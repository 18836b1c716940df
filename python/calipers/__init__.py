"""Measures models the way a paper defines the number, and gives the same bits whoever runs it.

>>> import calipers as cp
>>> acc = cp.segmentation.Evaluator(labels={"original": ["road", "sky"], "ignore": [255]})
>>> acc.update("frankfurt", truth=[[0, 1], [1, 255]], pred=[[0, 1], [0, 0]])
>>> acc.report()["segmentation.miou"]
0.5

There is one module per family: `explanation`, `independent_set`, `robustness`, `segmentation`, `training`.
Each has pure functions on arrays and an `Evaluator`. An evaluator is updated unit by unit, merged in any
order, and read as a `Report`. `compare` sets models side by side. `pyg` and `rung` stand in for published
functions.

Arrays come from NumPy, torch, DLPack or anything with the buffer protocol. Contiguous ones are not copied:
do not write to them while a call reads them. Ctrl-C is answered within a call. What the call had measured
until then is dropped.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from calipers import _calipers
from calipers._errors import (
    CalipersError,
    ConflictError,
    DuplicateError,
    FileError,
    FormatError,
    InputError,
    InputTypeError,
    InternalError,
    ProtocolMismatchError,
    UnknownArgumentError,
    UnknownMetricError,
    UsageError,
)

if TYPE_CHECKING:
    from calipers import explanation, independent_set, pyg, robustness, rung, segmentation, training
    from calipers._report import Report
    from calipers._report.comparison import Comparison, compare
    from calipers._top import Definition, Metric, demo, explain, load, merge, metrics, serve, to_json, verify

__all__ = [
    "CalipersError",
    "Comparison",
    "ConflictError",
    "Definition",
    "DuplicateError",
    "FileError",
    "FormatError",
    "InputError",
    "InputTypeError",
    "InternalError",
    "Metric",
    "ProtocolMismatchError",
    "Report",
    "UnknownArgumentError",
    "UnknownMetricError",
    "UsageError",
    "__version__",
    "compare",
    "demo",
    "explain",
    "explanation",
    "independent_set",
    "load",
    "merge",
    "metrics",
    "pyg",
    "robustness",
    "rung",
    "segmentation",
    "serve",
    "to_json",
    "training",
    "verify",
]

__version__: str = _calipers.VERSION

_LATER = {
    "Comparison": "calipers._report.comparison",
    "Report": "calipers._report",
    "compare": "calipers._report.comparison",
    "Definition": "calipers._top",
    "Metric": "calipers._top",
    "demo": "calipers._top",
    "explain": "calipers._top",
    "load": "calipers._top",
    "merge": "calipers._top",
    "metrics": "calipers._top",
    "serve": "calipers._top",
    "to_json": "calipers._top",
    "verify": "calipers._top",
    "explanation": "calipers.explanation",
    "independent_set": "calipers.independent_set",
    "pyg": "calipers.pyg",
    "robustness": "calipers.robustness",
    "rung": "calipers.rung",
    "segmentation": "calipers.segmentation",
    "training": "calipers.training",
}


def __getattr__(name: str) -> Any:
    """Import a family when it is first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module 'calipers' has no attribute '{name}'")
    module = importlib.import_module(_LATER[name])
    return module if _LATER[name] == f"calipers.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    """Name the families too, imported or not."""
    return sorted(__all__)

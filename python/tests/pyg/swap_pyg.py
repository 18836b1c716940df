"""A pytest plugin that puts the functions of `calipers.pyg` in the place of torch_geometric's.

python -m pytest -p swap_pyg path/to/test/explain/metric
"""

import importlib
import sys

from calipers import pyg

importlib.import_module("torch_geometric.explain")
_METRIC = "torch_geometric.explain.metric"
# The function `fidelity` hides the submodule of that name, so that modules are reached by their full names.
for _module in (
    "torch_geometric.explain",
    _METRIC,
    f"{_METRIC}.basic",
    f"{_METRIC}.faithfulness",
    f"{_METRIC}.fidelity",
):
    for _name in pyg.__all__:
        if hasattr(sys.modules[_module], _name):
            setattr(sys.modules[_module], _name, getattr(pyg, _name))

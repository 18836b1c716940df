"""Nonsense that arguments are given, and what no message about it may say."""

import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import calipers as cp

EDGES = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
WRONG: list[Any] = [
    "x",
    -1,
    0,
    2.5,
    10**30,
    float("nan"),
    float("inf"),
    True,
    [],
    [1, "a"],
    {},
    {"x": 1},
    b"b",
    object(),
]
"""What every option is given in turn."""

RUSTY = re.compile(
    r"--[a-z]|`calipers |serde|expected struct|invalid (type|value|digit|float)|\b[ui](8|16|32|64)\b|usize"
    r"|\bf(32|64)\b(?! \[)|ParseInt|unwrap|panicked"
)
"""What no message says; arrays are described as `f64 [1,2]`."""

FOREIGN = re.compile(
    r"--[a-z]|`calipers |serde|expected struct|invalid (type|value|digit|float)|usize|ParseInt|unwrap"
    r"|panicked|os error"
)
"""The same where types of arrays are named."""


def make_inputs(folder: pathlib.Path) -> None:
    """Write inputs of every family into the working directory."""
    for kind in ("gt", "out"):
        (folder / kind).mkdir()
        np.save(folder / kind / "u.npy", np.array([[0, 1, 2]], np.uint8))
    np.savez(folder / "g.npz", edge_index=EDGES, logits=[0.5, -1.0, 2.0], labels=[1, 0, 1])
    (folder / "masks.jsonl").write_text('{"unit": "a", "pred_mask": [0.9], "target_mask": [1]}\n')
    (folder / "run.csv").write_text("epoch,F1\n0,0.5\n1,0.95\n")
    np.savez(folder / "run.npz", **{"clean": [[1.0], [2.0]], "attacked_0.05": [[1.0], [4.0]]})


def said(call: Callable[[], Any]) -> str | None:
    """Return the message of a call, or nothing where it is accepted."""
    try:
        call()
    except cp.CalipersError as error:
        return str(error)
    except TypeError as error:
        # Python's own, for an argument that a signature does not have.
        return str(error) if " argument" in str(error) and "()" in str(error) else f"invalid type: {error}"
    return None

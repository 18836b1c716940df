"""Explanations of graph neural networks: fidelity, faithfulness, agreement with a truth, curves.

>>> import calipers as cp
>>> cp.explanation.fidelity([0, 1, 1], y_sub=[0, 1, 0], y_comp=[1, 1, 0]).plus_model
0.6666666666666666
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from calipers import _calipers
from calipers._errors import UsageError
from calipers._evaluator import EvaluatorBase
from calipers._inputs import files
from calipers._inputs.arguments import arguments, names_of, number, parts, text, word
from calipers._inputs.arrays import ArrayLike
from calipers._inputs.paths import Path
from calipers._report import Report
from calipers._report.explained import Explained

__all__ = [
    "Agreement",
    "Evaluator",
    "Fidelity",
    "agreement",
    "characterization_score",
    "evaluate",
    "fidelity",
    "fidelity_curve_auc",
    "score",
    "unfaithfulness",
]

MaskScores = Literal["probs", "logits", "raw"]
Preset = Literal["strict", "document", "pyg", "graphxai"]
Scores = Literal["probs", "log_probs", "logits"]
Task = Literal["multiclass", "binary", "regression"]
Mask = ArrayLike | Mapping[Any, Any]
"""One array, or one for each node or edge type by name; a tuple is a name, its parts joined by `__`."""


class Evaluator(EvaluatorBase):
    """Measures explanations; takes the options of the command line.

    >>> acc = Evaluator(scores="logits")
    >>> acc.update("one", y_hat=[[2.0, 0.5]], y_sub=[[1.0, 0.7]], y_comp=[[0.1, 0.3]])
    >>> acc.report()["fid_plus_model"]
    1.0
    """

    family = "explanation"

    def __init__(
        self,
        *,
        task: Task = "multiclass",
        scores: Scores | None = None,
        threshold: float = 0.5,
        target_threshold: float | None = None,
        mask_scores: MaskScores | None = None,
        pos_weight: float = 0.5,
        neg_weight: float = 0.5,
        preset: Preset = "strict",
    ) -> None:
        """Say what the model predicts, what its scores and the masks are, and which conventions count.

        Unless given, `target_threshold` is `threshold`, or 0.5 with raw masks, and `mask_scores` is probs.
        """
        options = {
            "task": word("task", task, get_args(Task)),
            "scores": None if scores is None else word("scores", scores, get_args(Scores)),
            "threshold": number("threshold", threshold),
            "target_threshold":
                None if target_threshold is None else number("target_threshold", target_threshold),
            "mask_scores":
                None if mask_scores is None else word("mask_scores", mask_scores, get_args(MaskScores)),
            "pos_weight": number("pos_weight", pos_weight), "neg_weight": number("neg_weight", neg_weight),
            "preset": word("preset", preset, get_args(Preset)),
        }  # fmt: skip
        given = {key: value for key, value in options.items() if value is not None}
        self._state = _calipers.explanation_new(json.dumps(given))

    def update(
        self,
        name: str,
        *,
        y: ArrayLike | None = None,
        y_hat: ArrayLike | None = None,
        y_sub: ArrayLike | None = None,
        y_comp: ArrayLike | None = None,
        index: ArrayLike | None = None,
        y_sub_sweep: ArrayLike | None = None,
        y_comp_sweep: ArrayLike | None = None,
        y_sub_samples: ArrayLike | None = None,
        y_comp_samples: ArrayLike | None = None,
        pred_mask: Mask | None = None,
        target_mask: Mask | None = None,
        target_masks: Mask | None = None,
        pred_mask_samples: Mask | None = None,
        pos_fidelity: ArrayLike | None = None,
        neg_fidelity: ArrayLike | None = None,
        x: ArrayLike | None = None,
    ) -> None:
        """Measure one explanation: one explained prediction, or a batch explained together.

        `y` are the true labels, `y_hat` is predicted on the full graph, `y_sub` with the explanation alone
        and `y_comp` without it. A name that was measured before raises `DuplicateError`.
        """
        given = {
            "y": y, "y_hat": y_hat, "y_sub": y_sub, "y_comp": y_comp, "index": index,
            "y_sub_sweep": y_sub_sweep, "y_comp_sweep": y_comp_sweep,
            "y_sub_samples": y_sub_samples, "y_comp_samples": y_comp_samples,
            "pred_mask": pred_mask, "target_mask": target_mask, "target_masks": target_masks,
            "pred_mask_samples": pred_mask_samples,
            "pos_fidelity": pos_fidelity, "neg_fidelity": neg_fidelity, "x": x,
        }  # fmt: skip
        _calipers.explanation_update(self._state, text("name", name), _flat(given))

    def update_batch(self, names: Sequence[str], **arrays: Any) -> None:
        """Measure an explanation for each name; all of them or, on an error, none.

        `arrays` are those of `update`, each as a list with one for each explanation; `None` is one that is
        missing.

        >>> acc = Evaluator()
        >>> acc.update_batch(["a", "b"], pred_mask=[[0.9, 0.1], [0.2, 0.7]], target_mask=[[1, 0], [0, 1]])
        >>> acc.report()["recall"]
        1.0
        """
        given = names_of(names)
        shares = {key: parts(key, of, len(given)) for key, of in arguments(arrays, _ARRAYS).items()}
        units = [
            (name, _flat({key: of[unit] for key, of in shares.items()})) for unit, name in enumerate(given)
        ]
        _calipers.explanation_update_batch(self._state, units)


def evaluate(*inputs: Path, **options: Any) -> Evaluator:
    """Measure the explanations that files hold, as `calipers explanation` does with the same words.

    `inputs` are files with units, or folders of them. The options:

    * measuring: `task`, `scores`, `threshold`, `target_threshold`, `mask_scores`, `pos_weight`, `neg_weight`,
      `preset`, `metrics` (what a report shows)
    * work: `threads`, `memory`, `shard`, `units` (names), `keep_going`, `resume` (a folder), `strict`,
      `progress`
    * for the report: `bootstrap`, `confidence`, `seed`, `interval`, `cluster_by`, `partial`

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "masks.jsonl"
    >>> _ = path.write_text('{"unit": "a", "pred_mask": [0.9, 0.1, 0.4], "target_mask": [1, 0, 1]}')
    >>> evaluate(path, metrics=["recall"]).report()["recall"]
    0.5
    """
    return files.evaluate(Evaluator, inputs, options)[0]


def _flat(given: dict[str, Any]) -> dict[str, Any]:
    """Write a mask of one type under `KEY.TYPE`."""
    flat = {}
    for key, value in given.items():
        if isinstance(value, Mapping):
            for kind, array in value.items():
                flat[f"{key}.{'__'.join(kind) if isinstance(kind, tuple) else kind}"] = array
        elif value is not None:
            flat[key] = value
    return flat


_OPTIONS = frozenset(
    ("task", "scores", "threshold", "target_threshold", "mask_scores", "pos_weight", "neg_weight", "preset")
)


_ARRAYS = (
    "y", "y_hat", "y_sub", "y_comp", "index", "y_sub_sweep", "y_comp_sweep", "y_sub_samples",
    "y_comp_samples", "pred_mask", "target_mask", "target_masks", "pred_mask_samples", "pos_fidelity",
    "neg_fidelity", "x",
)  # fmt: skip


def score(**given: Any) -> Report:
    """Measure one explanation: the arrays of `Evaluator.update` and the options of `Evaluator`.

    >>> score(pred_mask=[0.9, 0.1, 0.4], target_mask=[1, 0, 1])["recall"]
    0.5
    """
    arguments(given, (*_ARRAYS, *sorted(_OPTIONS)))
    acc = Evaluator(**{key: value for key, value in given.items() if key in _OPTIONS})
    acc.update("unit", **{key: value for key, value in given.items() if key not in _OPTIONS})
    return acc.report()


class _Fidelity(NamedTuple):
    plus_model: float | None
    minus_model: float | None
    plus_phenomenon: float | None
    minus_phenomenon: float | None


class Fidelity(Explained, _Fidelity):
    """Shares of instances whose label changes.

    Where an array or an instance is missing a field is `None`, and `undefined` says why.
    """


def fidelity(
    y_hat: ArrayLike,
    y_sub: ArrayLike | None = None,
    y_comp: ArrayLike | None = None,
    *,
    y: ArrayLike | None = None,
    index: ArrayLike | None = None,
    scores: Scores | None = None,
    task: Literal["multiclass", "binary"] = "multiclass",
) -> Fidelity:
    """Compare predictions without the explanation (plus) and with it alone (minus) with the full graph's.

    >>> fidelity([0, 1, 1], y_sub=[0, 1, 0], y_comp=[1, 1, 0], y=[0, 1, 0]).minus_phenomenon
    0.3333333333333333
    """
    report = score(y=y, y_hat=y_hat, y_sub=y_sub, y_comp=y_comp, index=index, scores=scores, task=task)
    ids = {field: f"fid_{field}" for field in Fidelity._fields}
    made = Fidelity(*map(report.get, ids.values()))
    made._explain(report, ids)
    return made


def characterization_score(
    pos_fidelity: ArrayLike, neg_fidelity: ArrayLike, *, pos_weight: float = 0.5, neg_weight: float = 0.5
) -> npt.NDArray[np.float64]:
    """Return the weighted harmonic mean of fid+ and 1 - fid- of every pair; NaN where it is 0/0.

    >>> characterization_score([1.0, 0.6, 0.5, 1.0], [0.0, 0.2, 0.5, 1.0], pos_weight=0.2, neg_weight=0.8)
    array([1.  , 0.75, 0.5 , 0.  ])
    """
    report = score(
        pos_fidelity=pos_fidelity, neg_fidelity=neg_fidelity, pos_weight=pos_weight, neg_weight=neg_weight
    )
    series: Any = report["characterization_score"]
    return np.array([np.nan if value is None else value for value in series], dtype=np.float64)


def fidelity_curve_auc(pos_fidelity: ArrayLike, neg_fidelity: ArrayLike, x: ArrayLike) -> float | None:
    """Return the area under fid+ / (1 - fid-) over an ascending axis; `None` where fid- is 1.

    >>> fidelity_curve_auc([1.0, 1.0, 0.5, 1.0], [0.0, 0.5, 0.5, 0.9], [0, 1, 2, 3])
    8.5
    """
    area: Any = score(pos_fidelity=pos_fidelity, neg_fidelity=neg_fidelity, x=x)["fidelity_curve_auc"]
    return area  # type: ignore[no-any-return]


class _Agreement(NamedTuple):
    accuracy: float | None
    recall: float | None
    precision: float | None
    f1_score: float | None
    auroc: float | None
    jaccard: float | None
    average_precision: float | None
    relevance_mass: float | None
    relevance_rank: float | None


class Agreement(Explained, _Agreement):
    """How a mask agrees with its truth; where a number is `None`, `undefined` says why."""


def agreement(
    pred_mask: Mask,
    target_mask: Mask | None = None,
    *,
    target_masks: Mask | None = None,
    threshold: float = 0.5,
    target_threshold: float | None = None,
    mask_scores: MaskScores = "probs",
) -> Agreement:
    """Compare a mask with its truth, or with the best of several: `>` against `>=` the threshold.

    >>> agreement([0.9, 0.1, 0.4], [1, 0, 1]).auroc
    1.0
    """
    if target_mask is None and target_masks is None:
        raise UsageError("a truth is needed\n  allowed: target_mask or target_masks")
    report = score(
        pred_mask=pred_mask, target_mask=target_mask, target_masks=target_masks, threshold=threshold,
        target_threshold=target_threshold, mask_scores=mask_scores,
    )  # fmt: skip
    made = Agreement(*map(report.get, Agreement._fields))
    made._explain(report)
    return made


def unfaithfulness(
    y_hat: ArrayLike,
    y_sub: ArrayLike,
    *,
    scores: Scores,
    task: Literal["multiclass", "binary"] = "multiclass",
    direction: Literal["documented", "reversed"] = "documented",
) -> float | None:
    """Return the mean of 1 - exp(-KL) over the instances, KL of `y_hat` from `y_sub` or reversed.

    >>> round(unfaithfulness([[0.5, 0.25, 0.25]], [[0.25, 0.5, 0.25]], scores="probs"), 12)
    0.159103584746
    """
    word("direction", direction, ("documented", "reversed"))
    report = score(y_hat=y_hat, y_sub=y_sub, scores=scores, task=task)
    mean: Any = report["unfaithfulness" if direction == "documented" else "unfaithfulness_reversed"]
    return mean  # type: ignore[no-any-return]

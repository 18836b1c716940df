"""Label maps and probabilities in one global label space.

>>> import calipers as cp
>>> cp.segmentation.confusion(pred=[[0, 1], [1, 1]], truth=[[0, 1], [0, 255]], classes=2, ignore=255)
array([[1, 1],
       [0, 1]])
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers import _calipers, _files
from calipers._arrays import ArrayLike
from calipers._errors import UsageError
from calipers._evaluator import EvaluatorBase
from calipers._files import Path
from calipers._report import Value

__all__ = [
    "BoundaryCounts",
    "ContourCounts",
    "Evaluator",
    "boundary_counts",
    "calibration",
    "confusion",
    "contour_counts",
    "evaluate",
    "fuse",
    "iou",
    "miou",
]

Kind = Literal["labels", "logits", "log-probs", "probs"]
Layout = Literal["CHW", "HWC"]
Measure = Literal["overlap", "boundary", "cheng", "contour", "calibration", "classwise", "temperature"]
Preset = Literal["strict", "document", "coral-mtl", "cityscapes", "mmseg", "torchmetrics-jaccard"]
Space = Literal["original", "global", "channel"]
Classes = int | Sequence[str] | Mapping[int, str]
"""How many classes, their names in the order of their ids, or names by id."""


class Evaluator(EvaluatorBase):
    """Measures images; takes the keys of a configuration file.

    >>> acc = Evaluator(labels={"original": ["road", "sky"], "ignore": [255]})
    >>> acc.update("one", truth=[[0, 1]], pred=[[[2.0, 0.5]], [[1.0, 0.7]]], kind="logits")
    >>> acc.report()["pixel_accuracy"]
    1.0
    """

    family = "segmentation"
    _beside = ("_config", "_kind", "_open")

    def __init__(
        self,
        labels: Mapping[str, Any],
        *,
        heads: Sequence[Mapping[str, Any]] = (),
        boundary: Mapping[str, Any] | None = None,
        bins: Mapping[str, Any] | None = None,
        measure: Sequence[Measure] | Literal["all"] | None = None,
        preset: Preset | None = None,
        kind: Kind | None = None,
        layout: Layout | None = None,
        space: Space | None = None,
        truth_space: Literal["original", "global"] | None = None,
    ) -> None:
        """Choose classes, heads and what is measured. Without `heads` there is one, called `flat`.

        `kind` may also be said with the first update.
        """
        self._config = _config(
            labels=labels, heads=list(heads), boundary=boundary, bins=bins, measure=measure, preset=preset,
            kind=kind, layout=layout, space=space,
            data=None if truth_space is None else {"truth_space": truth_space},
        )  # fmt: skip
        self._open = kind is None and not heads
        self._kind: Kind | None = kind or "labels"
        self._state = _calipers.segmentation_new(json.dumps(self._config, default=_plain))

    def _adopt(self, state: _calipers.State) -> None:
        super()._adopt(state)
        self._config, self._kind, self._open = {}, None, False

    def _settle(self, kind: Kind | None) -> None:
        if kind is None:
            return
        if not self._open and kind != self._declared():
            raise UsageError(
                f"the prediction is of another kind than declared\n    found: {kind}\n  allowed: {self._kind}"
            )
        if kind != self._kind:
            self._config["kind"] = self._kind = kind
            self._state = self._empty(kind)
        self._open = False

    def _declared(self) -> Kind:
        if self._kind is None:
            self._kind = self.report().protocol["heads"][0]["kind"]
        return self._kind

    def _empty(self, kind: Kind) -> _calipers.State:
        return _calipers.segmentation_new(json.dumps({**self._config, "kind": kind}, default=_plain))

    def update(
        self,
        name: str,
        *,
        truth: ArrayLike,
        pred: ArrayLike | Mapping[str, ArrayLike],
        kind: Kind | None = None,
    ) -> None:
        """Measure one image: a truth map [H, W], and one prediction or one for each head by name.

        A name that was measured before raises `DuplicateError`.
        """
        self._settle(kind)
        pred = dict(pred) if isinstance(pred, Mapping) else pred
        _calipers.segmentation_update(self._state, name, truth, pred)
        self._open = False

    def update_confusion(self, name: str, confusion: ArrayLike) -> None:
        """Measure one confusion matrix over the listed classes: rows are truth, columns prediction."""
        _calipers.segmentation_update_confusion(self._state, name, confusion)
        self._open = False

    def merge(self, other: Evaluator | bytes) -> None:
        """Add the units of another evaluator; see `EvaluatorBase.merge`."""
        other = self._evaluator(other)
        if isinstance(other, Evaluator) and other._open != self._open:
            # One of them has not been told a kind yet, and has no units: it takes that of the other.
            if self._open:
                self._settle(other._declared())
            else:
                self._state.merge(other._empty(self._declared()), "the other evaluator")
                return
        super().merge(other)


def evaluate(*inputs: Path, **options: Any) -> Evaluator:
    """Measure the images that files and folders hold, as `calipers segmentation` does with the same words.

    `inputs` is a configuration, or nothing. The report records what was read, and how. The options:

    * files: `truth`, `pred`, `confusion`, `truth_suffix`, `pred_suffix`, `flat`, `allow_missing`
    * labels: `classes` (a number, names, names by id, a file of names, or "cityscapes"), `ignore`,
      `background`, `exclude_background`, `truth_space`, `unpredicted`, `missing_heads`
    * prediction: `kind`, `layout`, `space`
    * measuring: `preset`, `measure`, `thickness`, `cheng`, `tolerance`, `tolerance_px`, `bins`, `bins_closed`
    * work: `threads`, `shard`, `strict`, `progress`; for the report: `bootstrap`, `confidence`, `seed`

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, labels in ("truth", [[0, 1]]), ("pred", [[0, 0]]):
    ...     (folder / name).mkdir()
    ...     np.save(folder / name / "frankfurt.npy", np.array(labels, np.uint8))
    >>> acc = evaluate(truth=folder / "truth", pred=folder / "pred", classes=["road", "sky"])
    >>> acc.report()["iou"]
    {'road': 0.5, 'sky': 0.0}
    """
    return _files.evaluate(Evaluator, inputs, options)[0]


def _config(**keys: Any) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None and value != []}


def _plain(value: Any) -> Any:
    """NumPy numbers, mappings and sequences of any type, as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else list(value)


def _labels(
    classes: Classes, ignore: int | Sequence[int] | None, background: int | str | None
) -> dict[str, Any]:
    ignored = [] if ignore is None else [ignore] if isinstance(ignore, int) else list(ignore)
    labels: dict[str, Any] = {"original": classes, "ignore": ignored}
    return labels if background is None else {**labels, "background": background}


def _one(
    pred: ArrayLike, truth: ArrayLike, labels: dict[str, Any], measure: Sequence[Measure], **keys: Any
) -> Mapping[str, Value]:
    evaluator = Evaluator(labels, measure=measure, **keys)
    evaluator.update("image", truth=truth, pred=pred)
    return evaluator.report()


def confusion(
    pred: ArrayLike, truth: ArrayLike, *, classes: Classes, ignore: int | Sequence[int] | None = None
) -> npt.NDArray[np.int64]:
    """Count scored pixels by true class (row) and predicted class (column)."""
    report = _one(pred, truth, _labels(classes, ignore, None), ["overlap"])
    counts: npt.NDArray[np.int64] = np.array(report["confusion"], dtype=np.int64)
    side = len(report["iou"])
    # The last column counts pixels without a prediction, which are refused here.
    whole: npt.NDArray[np.int64] = counts.reshape(side, side + 1)[:, :side].copy()
    return whole


def iou(
    pred: ArrayLike, truth: ArrayLike, *, classes: Classes, ignore: int | Sequence[int] | None = None
) -> dict[str, float | None]:
    """Return the intersection over union of each class; `None` where a class occurs in neither map.

    >>> iou([[0, 1]], [[0, 0]], classes=["road", "sky", "car"])
    {'road': 0.5, 'sky': 0.0, 'car': None}
    """
    return dict(_one(pred, truth, _labels(classes, ignore, None), ["overlap"])["iou"])


def miou(
    pred: ArrayLike, truth: ArrayLike, *, classes: Classes, ignore: int | Sequence[int] | None = None
) -> float | None:
    """Return the mean of the defined intersections over union.

    >>> miou([[0, 1]], [[0, 0]], classes=["road", "sky", "car"])
    0.25
    """
    mean: float | None = _one(pred, truth, _labels(classes, ignore, None), ["overlap"])["miou"]
    return mean


class BoundaryCounts(NamedTuple):
    """Pixels of the outer band of a class."""

    both: int
    truth: int
    pred: int


class ContourCounts(NamedTuple):
    """Contour pixels of a class, and how many are matched in the other map."""

    pred_matched: int
    pred: int
    truth_matched: int
    truth: int


def boundary_counts(
    pred: ArrayLike,
    truth: ArrayLike,
    *,
    classes: Classes,
    ignore: int | Sequence[int] | None = None,
    background: int | str | None = None,
    thickness: int = 2,
) -> dict[str, BoundaryCounts]:
    """Count the pixels of the outer band of each foreground class.

    >>> boundary_counts([[0, 0, 1]], [[0, 1, 0]], classes=2, background=0, thickness=1)
    {'1': BoundaryCounts(both=0, truth=2, pred=1)}
    """
    config = _config(
        labels=_labels(classes, ignore, background), boundary={"thickness": thickness}, measure=["boundary"]
    )
    counts = _calipers.segmentation_boundary_counts(json.dumps(config, default=_plain), truth, pred)
    return {name: BoundaryCounts(*three) for name, three in counts}


def contour_counts(
    pred: ArrayLike,
    truth: ArrayLike,
    *,
    classes: Classes,
    ignore: int | Sequence[int] | None = None,
    background: int | str | None = None,
    tolerance: float | None = None,
    tolerance_px: float | None = None,
) -> dict[str, ContourCounts]:
    """Match the contours of each foreground class within a radius.

    The radius is a fraction of the diagonal (0.0075 unless given) or a number of pixels.

    >>> contour_counts([[0, 0, 1]], [[0, 1, 0]], classes=2, background=0, tolerance_px=1)
    {'1': ContourCounts(pred_matched=1, pred=1, truth_matched=1, truth=1)}
    """
    boundary = _config(tolerance=tolerance, tolerance_px=tolerance_px)
    config = _config(labels=_labels(classes, ignore, background), boundary=boundary, measure=["contour"])
    counts = _calipers.segmentation_contour_counts(json.dumps(config, default=_plain), truth, pred)
    return {name: ContourCounts(*four) for name, four in counts}


def fuse(
    arrays: ArrayLike | Mapping[str, ArrayLike],
    heads: Sequence[Mapping[str, Any]],
    labels: Mapping[str, Any],
    *,
    preset: Preset | None = None,
) -> npt.NDArray[np.float64]:
    """Return the probability of every global class at every pixel, [C, H, W], from the scores of the heads.

    >>> head = {"name": "flat", "kind": "probs"}
    >>> fuse([[[0.25]], [[0.75]]], [head], {"original": 2}).ravel()
    array([0.25, 0.75])
    """
    config = _config(heads=list(heads), labels=labels, preset=preset)
    given = dict(arrays) if isinstance(arrays, Mapping) else arrays
    return _calipers.segmentation_fuse(json.dumps(config, default=_plain), given)


def calibration(
    pred: ArrayLike,
    truth: ArrayLike,
    *,
    classes: Classes,
    kind: Literal["logits", "log-probs", "probs"],
    ignore: int | Sequence[int] | None = None,
    bins: int = 10,
    closed: Literal["right", "left"] = "right",
    layout: Layout = "CHW",
) -> dict[str, Value]:
    """Return NLL, Brier score, calibration errors and the reliability series of one image.

    >>> scores = calibration([[[0.25]], [[0.75]]], [[1]], classes=2, kind="probs")
    >>> round(scores["brier"], 12), round(scores["ece"], 12)
    (0.125, 0.25)
    """
    report = _one(
        pred, truth, _labels(classes, ignore, None), ["calibration"], kind=kind, layout=layout,
        bins={"count": bins, "closed": closed},
    )  # fmt: skip
    names = ["nll", "brier", "ece", "mce", "mean_confidence"]
    names += ["reliability_count", "reliability_confidence", "reliability_accuracy"]
    return {name: report[name] for name in names}

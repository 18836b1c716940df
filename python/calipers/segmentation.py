"""Label maps and probabilities in one global label space.

>>> import calipers as cp
>>> cp.segmentation.confusion(pred=[[0, 1], [1, 1]], truth=[[0, 1], [0, 255]], classes=2, ignore=255)
array([[1, 1],
       [0, 1]])
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
from calipers._inputs import segmentation_config as config
from calipers._inputs.arguments import called, names_of, number, text, whole, word
from calipers._inputs.arrays import ArrayLike
from calipers._inputs.paths import Path
from calipers._report import Value
from calipers._segmentation.fit import Fit, fit

__all__ = [
    "BoundaryCounts",
    "ContourCounts",
    "Evaluator",
    "Fit",
    "boundary_counts",
    "calibration",
    "confusion",
    "contour_counts",
    "evaluate",
    "fit",
    "fuse",
    "iou",
    "miou",
    "surface_distances",
]

Kind = Literal["labels", "logits", "log-probs", "probs"]
Layout = Literal["CHW", "HWC"]
Measure = Literal[
    "overlap", "boundary", "cheng", "contour", "calibration", "classwise", "temperature", "surface", "images",
]  # fmt: skip
Convention = Literal["strict", "medpy", "monai", "deepmind"]
Spacing = float | Sequence[float]
"""How far elements are apart: one number for all axes, or one per axis in the order of the array."""
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
        labels: Classes | Mapping[str, Any],
        *,
        heads: Sequence[Mapping[str, Any]] = (),
        boundary: Mapping[str, Any] | None = None,
        bins: int | Mapping[str, Any] | None = None,
        surface: Mapping[str, Any] | None = None,
        images: Mapping[str, Any] | None = None,
        measure: Sequence[Measure] | Measure | Literal["all"] | None = None,
        preset: Preset | None = None,
        kind: Kind | None = None,
        layout: Layout | None = None,
        space: Space | None = None,
        truth_space: Literal["original", "global"] | None = None,
        unpredicted: Literal["error", "wrong"] | None = None,
        missing_heads: Literal["error", "marginalise"] | None = None,
    ) -> None:
        """Choose classes, heads and what is measured. Without `heads` there is one, called `flat`.

        `labels` is the table of a configuration, or short: how many classes, their names, or names by id.
        `bins` is the table or a number. `surface` and `images` belong to the parts of these names, which are
        measured only where `measure` names them. `kind` may also be said with the first update.
        """
        said = config.evaluator(
            labels=labels, heads=heads, boundary=boundary, bins=bins, surface=surface, images=images,
            measure=measure, preset=preset, kind=kind, layout=layout, space=space, truth_space=truth_space,
            unpredicted=unpredicted, missing_heads=missing_heads,
        )  # fmt: skip
        self._config = said
        self._open = kind is None and not heads
        self._kind: Kind | None = kind or "labels"
        self._state = _calipers.segmentation_new(json.dumps(self._config, default=_plain))

    def _adopt(self, state: _calipers.State) -> None:
        super()._adopt(state)
        self._config, self._kind, self._open = {}, None, False

    def _settle(self, kind: Kind | None) -> None:
        if kind is None:
            return
        word("kind", kind, get_args(Kind))
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
            self._kind = self.report(partial=True).protocol["heads"][0]["kind"]
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
        spacing: Spacing | None = None,
    ) -> None:
        """Measure one image: a truth map [H, W], and one prediction or one for each head by name.

        Volumes are maps [D, H, W]. `spacing` says how far elements are apart, for surface distances.

        A name that was measured before raises `DuplicateError`.
        """
        if kind is not None and self._open:
            before = self._config.get("kind"), self._kind, self._open, self._state
            self._settle(kind)
            try:
                self.update(name, truth=truth, pred=pred, spacing=spacing)
            except BaseException:
                self._unsettle(*before)
                raise
            return
        self._settle(kind)
        pred = dict(pred) if isinstance(pred, Mapping) else pred
        _calipers.segmentation_update(self._state, text("name", name), truth, pred, config.spacing(spacing))
        self._open = False

    def update_batch(
        self,
        names: Sequence[str],
        *,
        truth: ArrayLike,
        pred: ArrayLike | Mapping[str, ArrayLike],
        kind: Kind | None = None,
        threads: int = 1,
        spacing: Spacing | None = None,
    ) -> None:
        """Measure an image for each name; all of them or, on an error, none.

        Every array has an axis of images in front, or is a list of arrays, whose sizes may differ.

        >>> acc = Evaluator(2)
        >>> acc.update_batch(["a", "b"], truth=np.zeros((2, 4, 4), int), pred=np.zeros((2, 4, 4), int))
        >>> len(acc)
        2
        """
        given, threads = names_of(names), whole("threads", threads, 1)
        steps = config.spacing(spacing)
        before = self._config.get("kind"), self._kind, self._open, self._state
        self._settle(kind)
        pred = dict(pred) if isinstance(pred, Mapping) else pred
        try:
            _calipers.segmentation_update_batch(self._state, given, truth, pred, threads, steps)
        except BaseException:
            self._unsettle(*before)
            raise
        self._open = False

    def _unsettle(self, said: Any, kind: Kind | None, is_open: bool, state: _calipers.State) -> None:
        """Take back what a kind changed that was said in a call that failed."""
        self._config.pop("kind", None)
        if said is not None:
            self._config["kind"] = said
        self._kind, self._open, self._state = kind, is_open, state

    def update_confusion(self, name: str, confusion: ArrayLike) -> None:
        """Measure one confusion matrix over the listed classes: rows are truth, columns prediction."""
        _calipers.segmentation_update_confusion(self._state, text("name", name), confusion)
        self._open = False

    def _take_in(self, other: Evaluator, name: str) -> None:
        if isinstance(other, Evaluator) and other._open != self._open:
            # One of them has not been told a kind yet, and has no units: it takes that of the other.
            if self._open:
                self._settle(other._declared())
            else:
                self._state.merge(other._empty(self._declared()), name)
                return
        super()._take_in(other, name)


def evaluate(*inputs: Path, **options: Any) -> Evaluator:
    """Measure the images that files and folders hold, as `calipers segmentation` does with the same words.

    `inputs` is a configuration, or nothing. The report records what was read, and how. The options:

    * files: `truth`, `pred`, `confusion`, `truth_suffix`, `pred_suffix`, `truth_rgb`, `pred_rgb`,
      `flat`, `allow_missing`
    * labels: `classes` (a number, names, names by id, a file of names, or "cityscapes"), `ignore`,
      `background`, `exclude_background`, `truth_space`, `unpredicted`, `missing_heads`
    * prediction: `kind`, `layout`, `space`
    * measuring: `preset`, `measure`, `thickness`, `cheng`, `tolerance`, `tolerance_px`, `bins`, `bins_closed`
    * surfaces: `surface_convention`, `surface_percentile`, `surface_tolerance`, `surface_missing`,
      `surface_absent`; volumes: `spacing`, `orientation`; worst images: `worst`
    * work: `threads`, `memory`, `shard`, `units` (names), `keep_going`, `resume` (a folder), `strict`,
      `progress`
    * for the report: `bootstrap`, `confidence`, `seed`, `interval`, `cluster_by`, `partial`

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, labels in ("truth", [[0, 1]]), ("pred", [[0, 0]]):
    ...     (folder / name).mkdir()
    ...     np.save(folder / name / "frankfurt.npy", np.array(labels, np.uint8))
    >>> acc = evaluate(truth=folder / "truth", pred=folder / "pred", classes=["road", "sky"])
    >>> acc.report()["iou"]
    {'road': 0.5, 'sky': 0.0}
    """
    return files.evaluate(Evaluator, inputs, options)[0]


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
    short = config.labels_table(classes, "classes")
    if ignore is not None:
        short["ignore"] = config.listed("ignore", ignore)
    if background is not None:
        short["background"] = config.one_class("background", background)
    return short


def _one(
    pred: ArrayLike,
    truth: ArrayLike,
    labels: dict[str, Any],
    measure: Sequence[Measure],
    spacing: Spacing | None = None,
    **keys: Any,
) -> Mapping[str, Value]:
    evaluator = Evaluator(labels, measure=measure, **keys)
    evaluator.update("image", truth=truth, pred=pred, spacing=spacing)
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
    said = _config(
        labels=_labels(classes, ignore, background),
        boundary={"thickness": whole("thickness", thickness)},
        measure=["boundary"],
    )
    counts = _calipers.segmentation_boundary_counts(json.dumps(said, default=_plain), truth, pred)
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
    boundary = {}
    for name, value in ("tolerance", tolerance), ("tolerance_px", tolerance_px):
        if value is not None:
            boundary[name] = number(name, value)
    said = _config(labels=_labels(classes, ignore, background), boundary=boundary, measure=["contour"])
    counts = _calipers.segmentation_contour_counts(json.dumps(said, default=_plain), truth, pred)
    return {name: ContourCounts(*four) for name, four in counts}


def fuse(
    arrays: ArrayLike | Mapping[str, ArrayLike],
    heads: Sequence[Mapping[str, Any]],
    labels: Classes | Mapping[str, Any],
    *,
    preset: Preset | None = None,
) -> npt.NDArray[np.float64]:
    """Return the probability of every global class at every pixel, [C, H, W], from the scores of the heads.

    Each head gives a softmax over its channels at its `tau`. An original class has their product
    with the powers `alpha`, a global class the sum of its originals. Where the document differs: a
    channel that several originals share is divided by their number, which presets `document` and
    `coral-mtl` leave out. One head is fused in the same way, so that its sums decide and not the
    argmax of its channels.

    >>> head = {"name": "flat", "kind": "probs"}
    >>> fuse([[[0.25]], [[0.75]]], [head], {"original": 2}).ravel()
    array([0.25, 0.75])
    """
    said = config.evaluator(heads=heads, labels=labels, preset=preset)
    given = dict(arrays) if isinstance(arrays, Mapping) else arrays
    with called(pred="arrays"):
        return _calipers.segmentation_fuse(json.dumps(said, default=_plain), given)


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


def surface_distances(
    pred: ArrayLike,
    truth: ArrayLike,
    spacing: Spacing | None = None,
    convention: Convention = "strict",
    tolerance: float | None = None,
    percentile: float | None = None,
) -> dict[str, float | None]:
    """Measure how far the surfaces of two masks of zeros and ones lie apart, in an image or a volume.

    `hd` is the Hausdorff distance, `hd95` its 95th percentile, `hd_p` the one that is asked for. The average
    distances are `assd` and `masd`; `nsd` is the share of surface within the tolerance. `None` is undefined.

    >>> truth, pred = np.zeros((6, 7), int), np.zeros((6, 7), int)
    >>> truth[1:4, 1:5] = 1
    >>> pred[2:5, 2:6] = 1
    >>> distances = surface_distances(pred, truth, tolerance=1)
    >>> distances["hd95"], distances["nsd"]
    (1.2278174593052023, 0.9)
    >>> surface_distances(pred, truth, convention="medpy")["hd95"]
    1.4142135623730951
    """
    said = {"convention": convention, "tolerance": tolerance, "percentile": percentile}
    report = _one(
        pred, truth, {"original": ["outside", "object"], "background": 0}, ["surface"], spacing,
        surface={key: value for key, value in said.items() if value is not None},
    )  # fmt: skip
    names = ["dice", "hd", "hd95", *(["hd_p"] if percentile is not None else [])]
    names += ["asd_from_truth", "asd_from_pred", "assd", "masd", "nsd"]
    return {name: report[name]["object"] for name in names}

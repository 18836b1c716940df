"""Where a drop-in gives another result than its library, on purpose."""

from __future__ import annotations

from typing import NamedTuple

from calipers._report.short import short


class Difference(NamedTuple):
    """One case in which results differ."""

    library: str
    """`torchmetrics`, `mmseg`, `evaluate`, `monai` or `all`."""
    name: str
    """The classes or functions concerned."""
    when: str
    """On which input."""
    theirs: str
    """What the library does."""
    ours: str
    """What is done here."""
    why: str
    """The reason."""

    def __repr__(self) -> str:
        return short(self)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The ids of Calipers' own numbers that the row is about."""
        found = [ids for word, ids in NUMBERS.items() if word in self.name]
        return tuple(dict.fromkeys(id for ids in found for id in ids))


# What the names of the libraries are called here, by a word of theirs.
NUMBERS = {
    "confusion": ("segmentation.confusion",),
    "Jaccard": ("segmentation.iou", "segmentation.miou"),
    "IoU": ("segmentation.iou", "segmentation.miou"),
    "iou": ("segmentation.iou", "segmentation.miou"),
    "Accuracy": ("segmentation.pixel_accuracy", "segmentation.mean_class_accuracy"),
    "Precision": ("segmentation.precision", "segmentation.mean_precision"),
    "Recall": ("segmentation.recall", "segmentation.mean_recall"),
    "F1": ("segmentation.f1", "segmentation.mean_f1"),
    "Dice": ("segmentation.dice", "segmentation.mean_dice"),
    "CalibrationError": ("segmentation.ece",),
    "hausdorff": ("segmentation.hd", "segmentation.hd95"),
    "average_surface": ("segmentation.asd_from_pred", "segmentation.assd"),
    "surface_dice": ("segmentation.nsd",),
}


_EXACT = "a count is a whole number, and adding to a large float loses it"
_NO_CLASS = "a wrong label is no prediction of another class"

_ALL = [
    Difference(
        "torchmetrics",
        "Jaccard, Accuracy, Precision, Recall, F1, normalised confusion",
        "a count above 2^24",
        "counts become float32 before they are divided",
        "exact counts, rounded once",
        _EXACT,
    ),
    Difference(
        "torchmetrics",
        "confusion, Jaccard, Accuracy, Precision, Recall, F1",
        "a prediction or target outside 0..C-1 that the check on unique values lets pass, or "
        "validate_args=False",
        "counted in a neighbouring row, or `bincount` fails",
        "ValueError naming the value and its place",
        _NO_CLASS,
    ),
    Difference(
        "torchmetrics",
        "MulticlassCalibrationError",
        "a confidence of exactly 1.0",
        "a bin of its own, n+1 in all",
        "the last bin",
        "n bins were asked for",
    ),
    Difference(
        "torchmetrics",
        "MulticlassCalibrationError",
        "many samples",
        "float32 sums; keeps every sample",
        "exact sums; a row per bin",
        "memory does not grow with the data",
    ),
    Difference(
        "torchmetrics",
        "MulticlassCalibrationError",
        "a prediction that is NaN",
        "a bin without a mean, counted as 0",
        "ValueError",
        "a number that does not exist is no confidence of 0",
    ),
    Difference(
        "torchmetrics", "segmentation.MeanIoU", "many batches", "float32 running sum", "exact sum", _EXACT
    ),
    Difference(
        "mmseg",
        "IoUMetric",
        "more than 2^24 pixels of a class",
        "float32 totals, smaller images are lost",
        "exact totals",
        _EXACT,
    ),
    Difference(
        "mmseg",
        "IoUMetric",
        "labels that do not fit the prediction's dtype (-1 or 256 with uint8)",
        "wrap round to 255 or 0",
        "compared as integers: -1 is an unknown class, counted nowhere unless it is `ignore_index`",
        _NO_CLASS,
    ),
    Difference(
        "mmseg",
        "IoUMetric",
        "one class",
        "the histogram takes the range of the data, every id is counted",
        "only id 0 is counted",
        _NO_CLASS,
    ),
    Difference(
        "evaluate",
        "mean_iou",
        "images of different sizes in a pair",
        "NumPy's IndexError",
        "ValueError naming the pair",
        "the pair that is wrong can be found",
    ),
    Difference(
        "monai",
        "compute_iou, MeanIoU",
        "float16, bfloat16 inputs",
        "counts rounded to that type; above 65,504 pixels NaN (f16)",
        "exact counts, result in float32",
        _EXACT,
    ),
    Difference(
        "monai",
        "MeanIoU, DiceMetric",
        "many samples",
        "`aggregate` adds in float32",
        "`aggregate` adds in float64, rounded once",
        "a mean does not depend on how many samples there are",
    ),
    Difference(
        "monai",
        "compute_hausdorff_distance, compute_average_surface_distance, compute_surface_dice",
        "any masks",
        "distances in float32",
        "exact distances, result in float32",
        _EXACT,
    ),
    Difference(
        "monai",
        "compute_hausdorff_distance, compute_average_surface_distance, compute_surface_dice",
        "a volume with an axis of length 1",
        "every element of it is surface",
        "it is measured as an image",
        "one slice has no faces towards others",
    ),
    Difference(
        "monai",
        "compute_surface_dice",
        "a distance within 5e-7 of the threshold",
        "within or not by its rounding",
        "within",
        "a spacing that was stored in float32 does no harm",
    ),
    Difference(
        "all",
        "all",
        "a sample repeated by a distributed sampler",
        "counted again",
        "counted again",
        "there are no names: use `calipers.torchmetrics`",
    ),
]


def differences() -> list[Difference]:
    """Return every deliberate difference, as the documentation lists them.

    >>> {found.library for found in differences()} == {"torchmetrics", "mmseg", "evaluate", "monai", "all"}
    True
    """
    return list(_ALL)

"""Classes of torchmetrics 1.9 on exact counts; each is also an instance of the class it stands in for.

>>> from calipers.compat.torchmetrics import MulticlassJaccardIndex
>>> import torch
>>> iou = MulticlassJaccardIndex(num_classes=2, average="none")
>>> iou(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
tensor([0.5000, 0.5000])
"""

from __future__ import annotations

from calipers._extras import missing

try:
    import torch  # noqa: F401
    import torchmetrics  # noqa: F401
except ImportError as error:
    raise missing("calipers.compat.torchmetrics", "torchmetrics", error) from error

from calipers.compat._missing import named
from calipers.compat.torchmetrics import segmentation
from calipers.compat.torchmetrics._calibration import MulticlassCalibrationError
from calipers.compat.torchmetrics._confusion import (
    BinaryJaccardIndex,
    JaccardIndex,
    MulticlassConfusionMatrix,
    MulticlassJaccardIndex,
)
from calipers.compat.torchmetrics._scores import (
    MulticlassAccuracy,
    MulticlassF1Score,
    MulticlassPrecision,
    MulticlassRecall,
)

__all__ = [
    "BinaryJaccardIndex",
    "JaccardIndex",
    "MulticlassAccuracy",
    "MulticlassCalibrationError",
    "MulticlassConfusionMatrix",
    "MulticlassF1Score",
    "MulticlassJaccardIndex",
    "MulticlassPrecision",
    "MulticlassRecall",
    "segmentation",
]

__getattr__ = named(__name__, __all__)

"""The evaluators as `torchmetrics.Metric`s, for Lightning and for your own loops; needs torchmetrics.

A metric keeps the mergeable state of its evaluator. Between processes it is gathered and merged by unit
name. Uneven shards and samples that a `DistributedSampler` repeats give the numbers of one process, bit for
bit. That is why every unit needs a name that is the same wherever it is measured.

>>> class Segmenter(torch.nn.Module):  # or lightning.LightningModule, which calls these methods itself
...     def __init__(self):
...         super().__init__()
...         labels = {"original": ["road", "sky"], "ignore": [255]}
...         self.score = Segmentation(labels, kind="logits", metrics=["miou", "iou"], prefix="val/")
...
...     def forward(self, image):
...         return torch.stack([1 - image, image], dim=1)
...
...     def validation_step(self, batch, batch_idx):
...         self.score.update(self(batch["image"]), batch["truth"], names=batch["name"])
...
...         # self.log_dict(self.score), or self.log("val/miou", self.score["miou"])
>>> model = Segmenter()
>>> model.validation_step({"image": torch.ones(2, 1, 2), "truth": torch.tensor([[[1, 1]], [[0, 255]]]),
...                        "name": ["a", "b"]}, 0)
>>> model.validation_step({"image": torch.zeros(1, 1, 1), "truth": torch.tensor([[[0]]]), "name": ["c"]}, 1)
>>> model.score.report().units
3
>>> {id: value.item() for id, value in model.score.compute().items()}
{'val/miou': 0.5833333333333333, 'val/iou.road': 0.5, 'val/iou.sky': 0.6666666666666666}
>>> model.score["iou.sky"].compute().item()
0.6666666666666666
"""

from __future__ import annotations

from calipers._extras import missing

try:
    import torch  # noqa: F401
    import torchmetrics  # noqa: F401
except ImportError as error:
    raise missing("calipers.torchmetrics", "torchmetrics", error) from error

from calipers.torchmetrics._families import Explanation, IndependentSet, Robustness, Segmentation, Training

__all__ = ["Explanation", "IndependentSet", "Robustness", "Segmentation", "Training"]

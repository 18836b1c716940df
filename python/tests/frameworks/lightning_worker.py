"""A real Trainer that logs a metric by both idioms: PROCESSES OUTPUT."""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from calipers.torchmetrics import Segmentation

IMAGES = 7
LABELS = {"original": ["road", "sky", "car"], "ignore": [255]}


def image(i: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(i)
    return rng.normal(size=(3, 5, 7)), rng.choice([0, 1, 2, 255], size=(5, 7))


class Images(Dataset[Any]):
    """Seven images with their numbers."""

    def __len__(self) -> int:
        return IMAGES

    def __getitem__(self, i: int) -> dict[str, Any]:
        scores, truth = image(i)
        return {"index": i, "scores": scores, "truth": truth}


class Model(pl.LightningModule):  # type: ignore[misc, unused-ignore]
    """Logs one id, one number of many, and all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.one = Segmentation(LABELS, kind="logits", metrics="miou")
        self.many = Segmentation(
            LABELS, kind="logits", metrics=["miou", "pixel_accuracy", "iou"], prefix="all/"
        )
        self.units: list[int] = []

    def training_step(self, batch: Any, index: int) -> Any:
        return self.weight.sum()

    def validation_step(self, batch: Any, index: int) -> None:
        given = batch["scores"], batch["truth"], batch["index"]
        self.one(*given)
        self.many.update(*given)
        self.log("val/miou", self.one, on_step=True, on_epoch=True, batch_size=len(given[2]))
        self.log("val/sky", self.many["iou.sky"], batch_size=len(given[2]))
        self.log_dict(self.many, batch_size=len(given[2]))

    def on_validation_epoch_end(self) -> None:
        self.units.append(self.many.report().units)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Wrong(Model):
    """Logs a metric of several ids as if it were one number."""

    def validation_step(self, batch: Any, index: int) -> None:
        self.many.update(batch["scores"], batch["truth"], batch["index"])
        self.log("val/miou", self.many, batch_size=1)


def trained(model: Model, processes: int, epochs: int = 2) -> dict[str, float]:
    data = DataLoader(Images(), batch_size=2)
    trainer = pl.Trainer(
        max_epochs=epochs, accelerator="cpu", devices=processes, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
        strategy=pl.strategies.DDPStrategy(process_group_backend="gloo") if processes > 1 else "auto",
    )  # fmt: skip
    trainer.fit(model, data, data)
    return {name: float(value).hex() for name, value in trainer.callback_metrics.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    processes, output = int(sys.argv[1]), Path(sys.argv[2])
    model = Model()
    told: dict[str, Any] = {"values": trained(model, processes), "units": model.units}
    if processes == 1:
        try:
            trained(Wrong(), 1)
        except ValueError as error:
            told["error"] = [type(error).__name__, str(error)]
    if model.global_rank == 0:
        output.write_text(json.dumps(told))


if __name__ == "__main__":
    main()

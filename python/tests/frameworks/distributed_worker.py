"""One of the processes that measure together: RANK PROCESSES FOLDER."""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler

import calipers as cp
from calipers.torchmetrics import IndependentSet, Segmentation

IMAGES = 7
EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


class Images(Dataset[Any]):
    """Seven images with their numbers."""

    def __len__(self) -> int:
        return IMAGES

    def __getitem__(self, i: int) -> dict[str, Any]:
        rng = np.random.default_rng(i)
        return {
            "index": i,
            "scores": rng.normal(size=(3, 5, 7)),
            "truth": rng.choice([0, 1, 2, 255], size=(5, 7)),
            "logits": rng.normal(size=3),
            "labels": rng.integers(0, 2, size=3),
        }


def segmentation(**options: Any) -> Any:
    return Segmentation({"original": 3, "ignore": [255]}, kind="logits", metrics=["miou", "nll"], **options)


def bits(values: dict[str, Any]) -> dict[str, str]:
    return {id: value.item().hex() for id, value in values.items()}


def measured(sampler: Any) -> dict[str, Any]:
    """Score the images that a sampler hands out, two at a time."""
    image, graph, stepwise = segmentation(), IndependentSet(), segmentation(dist_sync_on_step=True)
    seen, steps = [], []
    for batch in DataLoader(Images(), batch_size=2, sampler=sampler):
        names = batch["index"]
        seen += names.tolist()
        image.update(batch["scores"], batch["truth"], names)
        steps.append(bits(stepwise(batch["scores"], batch["truth"], names)))
        count = len(names)
        graph.update(
            batch["logits"].reshape(-1),
            batch["labels"].reshape(-1),
            torch.cat([EDGES + 3 * i for i in range(count)], dim=1),
            names,
            ptr=3 * torch.arange(count + 1),
        )
    return {
        "seen": seen,
        "steps": steps,
        "values": [bits(image.compute()), bits(graph.compute()), bits(stepwise.compute())],
        "reports": [
            image.report().to_json(),
            graph.report().to_json(),
            stepwise.report(bootstrap=9).to_json(),
        ],
        "units_here": len(image._units()),
    }


def lopsided(rank: int) -> dict[str, Any]:
    """Only the first process has any images."""
    image = segmentation()
    if rank == 0:
        for i in range(IMAGES):
            item = Images()[i]
            image.update(item["scores"][None], item["truth"][None], [i])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"values": bits(image.compute()), "report": image.report().to_json()}


def conflicting(rank: int) -> dict[str, Any]:
    """Call different images by one name."""
    image = segmentation()
    item = Images()[rank]
    image.update(item["scores"][None], item["truth"][None], ["same"])
    try:
        image.compute()
    except cp.ConflictError as error:
        return {"error": str(error), "synced": image._is_synced, "units": len(image._units())}
    return {}


def padded(rank: int) -> dict[str, Any]:
    """Measure one image everywhere, with scores that differ as those of another batch do."""
    image, item = segmentation(), Images()[0]
    image.update(item["scores"][None] * (1 + rank * 2.0**-40), item["truth"][None], ["padded"])
    image.update(Images()[rank + 1]["scores"][None], Images()[rank + 1]["truth"][None], [rank])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        values = bits(image.compute())
        report = image.report()
    return {
        "values": values,
        "warnings": [found for found in report.warnings if found["code"] == "padded-rows-differ"],
        "heard": sum("padded-rows-differ" in str(one.message) for one in heard),
        "state": image.evaluator().to_bytes().hex(),
        "lowest": image.evaluator().report().to_json(),
    }


def main() -> None:
    rank, processes, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    dist.init_process_group("gloo", f"file://{folder / 'meeting'}", rank=rank, world_size=processes)
    sampler = DistributedSampler(Images(), processes, rank, shuffle=True, seed=3)
    told = {
        "sampled": measured(sampler),
        "lopsided": lopsided(rank),
        "conflicting": conflicting(rank),
        "padded": padded(rank),
    }
    (folder / f"{rank}.json").write_text(json.dumps(told))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""What the way through Python costs: many units at once, a folder, and a metric that grows; one thread."""

import functools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import calipers as cp
from calipers.torchmetrics import Segmentation

CLASSES = 19
RNG = np.random.default_rng(0)


def maps(count: int, side: int, dtype: Any = np.uint8) -> tuple[np.ndarray, np.ndarray]:
    """Return label maps in patches, and predictions of which a tenth is wrong."""
    patches = -(-side // 32)
    truth = np.repeat(np.repeat(RNG.integers(0, CLASSES, (count, patches, patches)), 32, 1), 32, 2)
    truth = truth[:, :side, :side]
    pred = np.where(RNG.random(truth.shape) < 0.1, RNG.integers(0, CLASSES, truth.shape), truth)
    return np.ascontiguousarray(truth, dtype), np.ascontiguousarray(pred, dtype)


def best(calls: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the least time of each call, by turns."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            found[name] = min(found[name], call())
    return found


def line(job: str, ours: float, against: float, ratio: float, goal: str, met: bool) -> None:
    """Print one row of the table."""
    print(f"| {job} | {ours:.2f} | {against:.2f} | {ratio:.2f} | {goal} | {'yes' if met else 'no'} |")


def measured(work: Callable[[cp.segmentation.Evaluator], None]) -> float:
    """Return the CPU time in ms of work on a new evaluator."""
    acc = cp.segmentation.Evaluator({"original": CLASSES}, kind="labels", measure=["overlap"])
    start = time.process_time()
    work(acc)
    return (time.process_time() - start) * 1e3


def singly(truth: np.ndarray, pred: np.ndarray, acc: cp.segmentation.Evaluator) -> None:
    """Measure units one by one."""
    for number, (one, other) in enumerate(zip(truth, pred, strict=True)):
        acc.update(str(number), truth=one, pred=other)


def batched(truth: np.ndarray, pred: np.ndarray, acc: cp.segmentation.Evaluator) -> None:
    """Measure the same units at once."""
    acc.update_batch([str(number) for number in range(len(truth))], truth=truth, pred=pred)


def batches() -> None:
    """Compare updates of many units with single ones."""
    truth, pred = maps(64, 512)
    found = best(
        {
            "batch": lambda: measured(functools.partial(batched, truth, pred)),
            "one": lambda: measured(functools.partial(singly, truth, pred)),
        },
        15,
    )
    ratio = found["batch"] / found["one"]
    line("64 maps of 512 x 512 at once, times longer; one by one", found["batch"], found["one"], ratio,
         "≤ 1.1", ratio <= 1.1)  # fmt: skip
    truth, pred = maps(1000, 32)
    found = best(
        {
            "batch": lambda: measured(functools.partial(batched, truth, pred)),
            "one": lambda: measured(functools.partial(singly, truth, pred)),
        },
        15,
    )
    ratio = found["one"] / found["batch"]
    line("1,000 maps of 32 x 32 at once; one by one", found["batch"], found["one"], ratio, "≥ 1.5",
         ratio >= 1.5)  # fmt: skip


def folder() -> None:
    """Compare `evaluate` with the command of the same package on the same files, both from start to end."""
    truth, pred = maps(200, 512)
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        for kind, arrays in ("gt", truth), ("out", pred):
            Path(kind).mkdir()
            for number, array in enumerate(arrays):
                np.save(f"{kind}/u{number:03}.npy", array)
        code = (
            "import calipers as cp; acc = cp.segmentation.evaluate(truth='gt', pred='out', classes=19, "
            "measure='overlap', threads=1); acc.report().to_json('r.json')"
        )
        words = "segmentation --truth gt --pred out --classes 19 --measure overlap --threads 1 --quiet"

        def seconds(command: list[str]) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3

        empty = [sys.executable, "-c", "import calipers.segmentation"]
        command = [sys.executable, "-m", "calipers", *words.split(), "--json", "c.json"]
        found = best(
            {
                "call": lambda: seconds([sys.executable, "-c", code]),
                "command": lambda: seconds(command),
                "import": lambda: seconds(empty),
                "start": lambda: seconds([sys.executable, "-m", "calipers", "--version"]),
            },
            7,
        )
        assert Path("r.json").read_bytes() == Path("c.json").read_bytes()
        call, shell = found["call"] - found["import"], found["command"] - found["start"]
        line("evaluate of 200 pairs of 512 x 512, times longer; the command, both without their start",
             call, shell, call / shell, "≤ 1.05", call / shell <= 1.05)  # fmt: skip
        os.chdir("/")


def growth() -> None:
    """Compare what a metric of 1,000 classes holds with the state of its evaluator."""
    metric = Segmentation(1000)
    ids = torch.zeros(1, 8, 8, dtype=torch.int64)
    for number in range(1000):
        metric.update(ids, ids, names=[number])
    held = sum(part.numel() for part in metric.measured) + metric.protocol.numel()
    state = len(metric.evaluator().to_bytes())
    line(
        "held by `Segmentation` of 1,000 classes after 1,000 batches, MB; its state",
        held / 1e6,
        state / 1e6,
        held / state,
        "≤ 1.5",
        held <= 1.5 * state + 2**20,
    )


def main() -> None:
    """Print the table."""
    print("| job, ms | Calipers | compared with | ratio | goal | met |\n|---|--:|--:|--:|--:|---|")
    batches()
    growth()
    folder()


if __name__ == "__main__":
    main()

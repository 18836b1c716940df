"""First touch: label maps measured with the defaults, bands and all, against rivals that count overlap alone.

Everything works on one thread: the rivals are told so by `RAYON_NUM_THREADS` or an argument.
"""

import functools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["RAYON_NUM_THREADS"] = "1"

import hotcoco.semantic
import numpy as np
import vernier.semantic
from PIL import Image

import calipers as cp

CLASSES = 19
VOID = 255
HEIGHT, WIDTH = 1024, 2048
PAIRS = 40
Maps = tuple[np.ndarray, np.ndarray]


def smooth(seed: int) -> Maps:
    """Return about 60 regions with straight borders that the prediction moves; the lowest 7 % are void."""
    rng = np.random.default_rng(seed)
    sites = rng.random((60, 2)) * (WIDTH, HEIGHT)
    x, y = np.meshgrid(np.arange(WIDTH, dtype=np.float32), np.arange(HEIGHT, dtype=np.float32))

    def nearest(sites: np.ndarray) -> np.ndarray:
        least, found = np.full(x.shape, np.inf, np.float32), np.zeros(x.shape, np.uint8)
        for number, (across, down) in enumerate(sites.astype(np.float32)):
            distance = (x - across) ** 2 + (y - down) ** 2
            found[distance < least] = number % CLASSES
            least = np.minimum(least, distance)
        found[HEIGHT - HEIGHT * 7 // 100 :] = VOID
        return found

    return nearest(sites), nearest(sites + rng.integers(-12, 12, sites.shape))


def noise(seed: int) -> Maps:
    """Return maps whose pixels are anything, 7 % of them void."""
    rng = np.random.default_rng(seed)
    truth, pred = rng.integers(0, CLASSES, (2, HEIGHT, WIDTH), np.uint8)
    void = rng.random(truth.shape) < 0.07
    truth[void] = pred[void] = VOID
    return truth, pred


def by_turns(jobs: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the least CPU time of each job."""
    found = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            found[name] = min(found[name], job())
    return found


def cpu(work: Callable[[], object], repeats: int = 1) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - start) / repeats


def report(job: str, pixels: int, found: dict[str, float], goal: bool) -> None:
    """Print one row per rival; the goal is hotcoco's speed."""
    speed = {name: pixels / seconds / 1e6 for name, seconds in found.items()}
    for rival in ("hotcoco", "vernier"):
        ratio = speed["calipers"] / speed[rival]
        bound = ("≥ 1", "yes" if ratio >= 1 else "**no**") if goal and rival == "hotcoco" else ("", "")
        ours, theirs = (f"{speed[name]:.0f} Mpix/s" for name in ("calipers", rival))
        print(
            f"| {job}; {rival}, overlap alone | {ours} | {theirs} | {ratio:.2f} | {bound[0]} | {bound[1]} |"
        )


def evaluator(**options: object) -> cp.segmentation.Evaluator:
    """Return an evaluator of the bench's classes."""
    return cp.segmentation.Evaluator(labels={"original": CLASSES, "ignore": [VOID]}, kind="labels", **options)


def arrays(name: str, maps: Maps, is_goal: bool) -> None:
    """Compare one update with maps in memory. Noise is no label map, so it has no goal."""
    truth, pred = maps
    hot = hotcoco.semantic.SemanticEval(CLASSES)
    units = iter(range(1_000_000))

    def updates(acc: cp.segmentation.Evaluator) -> float:
        return cpu(lambda: acc.update(str(next(units)), truth=truth, pred=pred), 20)

    def vern() -> object:
        gt = vernier.semantic.Dataset.from_arrays({0: truth}, n_classes=CLASSES, ignore_label=VOID)
        dt = vernier.semantic.Predictions.from_arrays({0: pred})
        return vernier.semantic.Evaluator().evaluate(gt, dt, num_threads=1)

    rivals = {
        "hotcoco": lambda: cpu(lambda: hot.update(truth, pred), 20),
        "vernier": lambda: cpu(vern, 3),
    }
    for words, options, goal in (
        ("defaults", {}, is_goal),
        ("overlap", {"measure": ["overlap"]}, False),
    ):
        acc = evaluator(**options)
        found = by_turns({"calipers": functools.partial(updates, acc), **rivals}, 9)
        report(f"a pair of {name} maps, {words}", truth.size, found, goal)


def folders() -> None:
    """Compare two folders of PNG, from files to numbers, on one thread."""
    with tempfile.TemporaryDirectory() as folder:
        gt, out = Path(folder, "gt"), Path(folder, "out")
        gt.mkdir()
        out.mkdir()
        for number in range(PAIRS):
            for place, pixels in zip((gt, out), smooth(number), strict=True):
                Image.fromarray(pixels).save(place / f"{number:03}.png")
        words = (
            f"segmentation --truth {gt} --pred {out} --classes {CLASSES} --ignore {VOID} --threads 1 --quiet"
        )

        def program(*more: str) -> float:
            command = [sys.executable, "-m", "calipers", *words.split(), *more, "--json", f"{folder}/r.json"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        def hot() -> object:
            acc = hotcoco.semantic.SemanticEval(CLASSES)
            acc.update_folders(gt, out)
            return acc.report()

        def vern() -> object:
            paths = [dict(enumerate(sorted(place.iterdir()))) for place in (gt, out)]
            return vernier.semantic.Evaluator().evaluate_from_pngs(
                *paths, n_classes=CLASSES, ignore_label=VOID, num_threads=1
            )

        rivals = {"hotcoco": lambda: cpu(hot), "vernier": lambda: cpu(vern)}
        for name, more, goal in (("defaults", (), True), ("overlap", ("--measure", "overlap"), False)):
            found = by_turns({"calipers": functools.partial(program, *more), **rivals}, 5)
            job = f"{PAIRS} PNG pairs, {name}, the command with its start"
            report(job, PAIRS * HEIGHT * WIDTH, found, goal)


def main() -> None:
    """Print the table."""
    print("| job | Calipers | compared with | ratio | goal | met |\n|---|--:|--:|--:|--:|---|")
    arrays("smooth", smooth(1), True)
    arrays("noise", noise(1), False)
    folders()


if __name__ == "__main__":
    main()

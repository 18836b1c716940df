"""The recipes for Dask give the bytes of one process, on workers that are processes of their own."""

import copy
import os
import pathlib
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import calipers as cp

distributed: Any = pytest.importorskip("distributed")
pytestmark = [pytest.mark.compat, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start two workers."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "processes": True}
    space = tmp_path_factory.mktemp("workers")
    cluster = distributed.LocalCluster(**options, local_directory=str(space))
    with cluster, distributed.Client(cluster) as client:
        yield client


def image(number: int) -> tuple[str, Any, Any]:
    rng = np.random.default_rng(number)
    return f"u{number}", rng.integers(0, 3, (8, 8)), rng.integers(0, 3, (8, 8))


def measured(start: Any, part: list[tuple[str, Any, Any]]) -> Any:
    acc = copy.copy(start)
    for name, truth, pred in part:
        acc.update(name, truth=truth, pred=pred)
    return acc


def joined(group: list[Any]) -> Any:
    return cp.merge(group)


def test_parts_in_memory_merge_at_once_and_in_a_tree(client: Any) -> None:
    start = cp.segmentation.Evaluator(3, kind="labels")
    whole = measured(start, [image(number) for number in range(20)]).to_bytes()
    parts = [[image(number) for number in range(20) if number % 7 == part] for part in range(7)]
    # A part that is measured twice counts once.
    futures = client.map(measured, [start] * 8, [*parts, parts[0]], pure=False)
    assert cp.merge(client.gather(futures)).to_bytes() == whole
    while len(futures) > 1:
        futures = [client.submit(joined, futures[at : at + 3]) for at in range(0, len(futures), 3)]
    assert futures[0].result().to_bytes() == whole


def test_shards_of_files_merge_into_the_report_of_all(client: Any, tmp_path: pathlib.Path) -> None:
    for kind in ("gt", "out"):
        (tmp_path / kind).mkdir()
    for number in range(12):
        name, truth, pred = image(number)
        np.save(tmp_path / "gt" / f"{name}.npy", truth.astype(np.uint8))
        np.save(tmp_path / "out" / f"{name}.npy", pred.astype(np.uint8))
    given: dict[str, Any] = {"truth": str(tmp_path / "gt"), "pred": str(tmp_path / "out"), "classes": 3}

    def shard(number: int) -> Any:
        return cp.segmentation.evaluate(**given, shard=f"{number}/4", threads=1)

    merged = cp.merge(client.gather(client.map(shard, range(1, 5))))
    assert merged.report().to_json() == cp.segmentation.evaluate(**given).report().to_json()


def test_a_killed_worker_loses_nothing_and_counts_nothing_twice(client: Any, tmp_path: pathlib.Path) -> None:
    for kind in ("gt", "out"):
        (tmp_path / kind).mkdir()
    for number in range(40):
        name, truth, pred = image(number)
        np.save(tmp_path / "gt" / f"{name}.npy", truth.astype(np.uint8))
        np.save(tmp_path / "out" / f"{name}.npy", pred.astype(np.uint8))
    given: dict[str, Any] = {"truth": str(tmp_path / "gt"), "pred": str(tmp_path / "out"), "classes": 3}

    def shard(number: int) -> bytes:
        # What is measured stays in a folder; the worker of every second shard dies behind that.
        resume = tmp_path / f"parts-{number}"
        died = resume.exists()
        part = cp.segmentation.evaluate(**given, shard=f"{number}/4", threads=1, resume=str(resume))
        if number % 2 and not died:
            os.kill(os.getpid(), signal.SIGKILL)
        return part.to_bytes()

    futures = client.map(shard, range(1, 5), pure=False, retries=5)
    merged = cp.merge(client.gather(futures))
    assert merged.report().to_json() == cp.segmentation.evaluate(**given).report().to_json()

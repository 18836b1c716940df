"""States of shards merge into those of one process, in Ray tasks and without them."""

import os
import pickle
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers as cp
from calipers.ray import evaluate, merged

LABELS = {"original": 3, "ignore": [255]}


def image(number: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(number)
    return rng.choice([0, 1, 2, 255], size=(5, 7)), rng.integers(0, 3, size=(5, 7))


def measure(acc: cp.segmentation.Evaluator, numbers: list[int]) -> None:
    for number in numbers:
        truth, pred = image(number)
        acc.update(f"image {number}", truth=truth, pred=pred)


def evaluator(*numbers: int) -> cp.segmentation.Evaluator:
    made = cp.segmentation.Evaluator(LABELS, kind="labels")
    measure(made, list(numbers))
    return made


def test_any_tree_of_states_gives_the_bytes_of_one_process() -> None:
    whole = evaluator(*range(9)).to_bytes()
    draw = random.Random(0)
    for _ in range(50):
        # Every image in one part at least, some in several; parts without any.
        parts = [[i] for i in range(9)] + [draw.sample(range(9), draw.randrange(4)) for _ in range(4)]
        level = [evaluator(*part).to_bytes() for part in parts]
        while len(level) > 1:
            draw.shuffle(level)
            width = draw.randint(2, 4)
            level = [merged(level[i : i + width]) for i in range(0, len(level), width)]
        assert level[0] == whole


def test_states_that_do_not_fit_are_refused() -> None:
    truth, pred = image(0)
    other = cp.segmentation.Evaluator(LABELS, kind="labels")
    other.update("image 0", truth=truth, pred=(pred + 1) % 3)
    with pytest.raises(cp.ConflictError, match="image 0"):
        merged([evaluator(0).to_bytes(), other.to_bytes()])
    with pytest.raises(cp.CalipersError):
        merged([evaluator(0).to_bytes(), cp.explanation.Evaluator().to_bytes()])
    with pytest.raises(cp.UsageError, match="no state"):
        merged([])
    with pytest.raises(cp.FormatError, match="state 1"):
        merged([evaluator(0).to_bytes(), b"no state"])


def test_the_module_needs_ray_only_when_tasks_are_started() -> None:
    code = (
        "import sys; sys.modules['ray'] = None; import calipers.ray as r; "
        "import calipers as cp; acc = cp.explanation.Evaluator(); r.merged([acc.to_bytes()])\n"
        "try: r.evaluate(acc, [], print)\nexcept ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "calipers[ray]" in said


def test_wrong_arguments_are_told_before_ray_is_asked() -> None:
    fine: dict[str, Any] = {"evaluator": evaluator(), "shards": [[0]], "measure": measure}
    wrong: list[tuple[str, Any]] = [
        ("evaluator", 3), ("shards", 3), ("measure", 3), ("progress", 3), ("fan_in", "x"),
    ]  # fmt: skip
    for name, value in wrong:
        with pytest.raises(cp.InputTypeError, match=name):
            evaluate(**{**fine, name: value})
    with pytest.raises(cp.UsageError, match="fan_in"):
        evaluate(**fine, fan_in=1)


def test_shards_of_files_merge_into_the_report_of_all(ray: Any, tmp_path: Path) -> None:
    for kind in ("gt", "out"):
        (tmp_path / kind).mkdir()
    for number in range(9):
        for kind, values in zip(("gt", "out"), image(number), strict=True):
            np.save(tmp_path / kind / f"{number}.npy", values.astype(np.uint8))
    given = {"truth": tmp_path / "gt", "pred": tmp_path / "out", "classes": 3, "ignore": [255]}
    shard = ray.remote(lambda number: cp.segmentation.evaluate(**given, shard=f"{number}/4", threads=1))
    merged = cp.merge(ray.get([shard.remote(number) for number in range(1, 5)]))
    assert merged.report().to_json() == cp.segmentation.evaluate(**given).report().to_json()


def test_a_killed_task_goes_on_from_the_folder_of_its_shard(ray: Any, tmp_path: Path) -> None:
    for kind in ("gt", "out"):
        (tmp_path / kind).mkdir()
    for number in range(40):
        for kind, values in zip(("gt", "out"), image(number), strict=True):
            np.save(tmp_path / kind / f"{number}.npy", values.astype(np.uint8))
    given = {"truth": tmp_path / "gt", "pred": tmp_path / "out", "classes": 3, "ignore": [255]}

    def shard(number: int) -> bytes:
        resume = tmp_path / f"parts-{number}"
        died = resume.exists()
        part = cp.segmentation.evaluate(**given, shard=f"{number}/4", threads=1, resume=resume)
        if number % 2 and not died:
            os.kill(os.getpid(), signal.SIGKILL)
        return part.to_bytes()

    task = ray.remote(max_retries=3)(shard)
    merged = cp.merge(ray.get([task.remote(number) for number in range(1, 5)]))
    assert merged.report().to_json() == cp.segmentation.evaluate(**given).report().to_json()


@pytest.fixture(scope="module")
def ray() -> Any:
    os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")
    module = pytest.importorskip("ray", reason="Ray is not installed")
    module.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield module
    module.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_tasks_give_the_bytes_of_one_process(ray: Any) -> None:
    from calipers.ray import evaluate, merged_by_tasks

    shards = [[0, 1], [2], ray.put([3, 4, 5]), [2, 6], [], [7, 8]]
    empty = evaluator()
    found = evaluate(empty, shards, measure, fan_in=2, max_retries=2)
    assert found == evaluator(*range(9))
    assert len(empty) == 0
    assert evaluate(empty, [], measure) == empty
    parts = [evaluator(i).to_bytes() for i in range(5)]
    assert ray.get(merged_by_tasks(parts, fan_in=3)) == evaluator(*range(5)).to_bytes()
    with pytest.raises(cp.UsageError, match="fan_in"):
        merged_by_tasks(parts, fan_in=1)
    with pytest.raises(cp.UsageError, match="fan_in"):
        evaluate(empty, shards, measure, fan_in=1)


@pytest.mark.filterwarnings("ignore")
def test_settings_travel_with_the_evaluator(ray: Any) -> None:
    from calipers.ray import ShardsFailed, evaluate

    def graph(acc: Any, number: int) -> None:
        acc.update(f"graph {number}", edge_index=[[0, 0], [0, 1]], logits=[1.0, -1.0], labels=[1, 0])

    with pytest.raises(ShardsFailed, match="InputError") as told:
        evaluate(cp.independent_set.Evaluator(self_loops="error"), [0, 1], graph)
    assert set(told.value.failed) == {0, 1}
    assert len(evaluate(cp.independent_set.Evaluator(), [0, 1], graph)) == 2

    def scored(acc: Any, numbers: list[int]) -> None:
        for number in numbers:
            truth, _ = image(number)
            pred = np.random.default_rng(number).normal(size=(3, 5, 7))
            acc.update(str(number), truth=truth, pred=pred, kind="logits")

    # The kind is said in the first update, and a shard without any says none.
    whole = cp.segmentation.Evaluator(LABELS)
    found = evaluate(whole, [[0], [], [1, 2]], scored)
    scored(whole, [0, 1, 2])
    assert found == whole


@pytest.mark.filterwarnings("ignore")
def test_shards_that_fail_lose_nothing_that_is_finished(ray: Any, tmp_path: Path) -> None:
    from calipers.ray import ShardsFailed, evaluate

    dead, folder, counts = tmp_path / "dead", tmp_path / "shards", tmp_path / "counts"
    counts.mkdir()

    def sometimes(acc: Any, numbers: list[int]) -> None:
        (counts / f"{numbers[0]} {time.time_ns()}").touch()
        if numbers == [1, 1]:
            measure(acc, numbers)
        if numbers[0] == 3 and not dead.exists():
            dead.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        measure(acc, numbers[:1])

    told: list[tuple[int, int]] = []
    shards = [[0], [1, 1], [2], [3]]
    with pytest.raises(ShardsFailed, match="2 of 4 shards failed") as caught:
        evaluate(
            evaluator(), shards, sometimes, resume=folder, max_retries=0,
            progress=lambda done, total: told.append((done, total)),
        )  # fmt: skip
    failed = caught.value.failed
    assert sorted(failed) == [1, 3]
    assert isinstance(failed[1], cp.DuplicateError)
    assert "image 1" in str(caught.value)
    assert caught.value.evaluator == evaluator(0, 2)
    assert told == [(0, 4), (1, 4), (2, 4)]
    assert pickle.loads(pickle.dumps(caught.value)).evaluator == evaluator(0, 2)
    shards[1] = [1]
    before = len(list(counts.iterdir()))
    assert evaluate(evaluator(), shards, sometimes, resume=folder, max_retries=0) == evaluator(0, 1, 2, 3)
    assert len(list(counts.iterdir())) == before + 2, "only what was missing is measured"
    assert evaluate(evaluator(), shards, sometimes, resume=folder) == evaluator(0, 1, 2, 3)
    assert len(list(counts.iterdir())) == before + 2
    with pytest.raises(cp.UsageError, match="another split"):
        evaluate(evaluator(), shards[:2], sometimes, resume=folder)
    with pytest.raises(cp.ProtocolMismatchError):
        evaluate(cp.segmentation.Evaluator(LABELS, kind="logits"), shards, sometimes, resume=folder)


@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_is_retried_and_progress_may_stop_all(ray: Any, tmp_path: Path) -> None:
    from calipers.ray import evaluate

    dead = tmp_path / "dead"

    def dies_once(acc: Any, numbers: list[int]) -> None:
        if not dead.exists():
            dead.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        measure(acc, numbers)

    assert evaluate(evaluator(), [[0], [1]], dies_once, max_retries=2) == evaluator(0, 1)

    def stop(done: int, total: int) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        evaluate(evaluator(), [[0], [1]], measure, progress=stop)

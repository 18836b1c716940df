"""Several processes give the numbers of one, bit for bit, whoever measured what and how often."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("torchmetrics")
pytestmark = pytest.mark.compat

WORKER = Path(__file__).with_name("distributed_worker.py")


def answers(processes: int, folder: Path) -> list[Any]:
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(WORKER)]
    running = [
        subprocess.Popen(
            [*command, str(rank), str(processes), str(folder)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(processes)
    ]
    for process in running:
        _, complaint = process.communicate(timeout=120)
        assert process.returncode == 0, complaint
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(processes)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Ask one process."""
    return answers(1, tmp_path_factory.mktemp("alone"))[0]


@pytest.fixture(scope="module", params=[2, 3])
def several(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Ask each of several processes."""
    return answers(request.param, tmp_path_factory.mktemp("several"))


def test_repeated_samples_count_once(alone: Any, several: list[Any]) -> None:
    whole = sorted(alone["sampled"]["seen"])
    seen = [i for each in several for i in each["sampled"]["seen"]]
    assert whole == list(range(7)) == sorted(set(seen))
    assert len(seen) > len(whole), "the sampler repeats samples to fill up the processes"
    for each in several:
        assert each["sampled"]["values"] == alone["sampled"]["values"]
        assert each["sampled"]["reports"] == alone["sampled"]["reports"]


def test_processes_keep_their_own_units_after_a_sync(several: list[Any]) -> None:
    for each in several:
        assert each["sampled"]["units_here"] == len(each["sampled"]["seen"])


def test_every_step_is_that_of_all_processes_when_asked_for(alone: Any, several: list[Any]) -> None:
    first, *others = several
    assert all(each["sampled"]["steps"] == first["sampled"]["steps"] for each in others)
    assert first["sampled"]["steps"][0] != alone["sampled"]["steps"][0]


def test_a_process_without_units_changes_nothing(alone: Any, several: list[Any]) -> None:
    for each in several:
        assert each["lopsided"] == alone["lopsided"]


def test_one_name_for_two_units_is_a_conflict_in_every_process(alone: Any, several: list[Any]) -> None:
    assert alone["conflicting"] == {}
    for each in several:
        assert "same" in each["conflicting"]["error"]
        assert (each["conflicting"]["synced"], each["conflicting"]["units"]) == (False, 1)


def test_a_padded_sample_keeps_the_row_of_the_lowest_rank_and_is_counted(several: list[Any]) -> None:
    first, *others = [each["padded"] for each in several]
    assert first["warnings"][0]["units"] == ["padded"]
    assert "1 unit was measured by several processes" in first["warnings"][0]["message"]
    assert first["heard"] > 0
    for other in others:
        assert {**other, "heard": 0} == {**first, "heard": 0}, "all processes have the same bits"
        assert other["heard"] == 0, "only the first process tells"

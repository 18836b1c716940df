"""Threads, interrupts, the command line, and how long an import takes."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import calipers as cp


def test_python_goes_on_while_rust_works() -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 200_000, size=(2, 2_000_000))
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    cp.independent_set.min_degree(pairs, num_nodes=200_000)
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [at for at in ticks if start < at < end]
    assert len(inside) >= 10, (end - start, len(inside))


def test_threads_may_share_an_evaluator() -> None:
    acc = cp.segmentation.Evaluator(labels={"original": 5}, kind="labels")
    maps = np.random.default_rng(0).integers(0, 5, size=(2, 64, 64))

    def one(i: int) -> None:
        acc.update(str(i), truth=maps[0], pred=maps[1])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(40)))
    assert len(acc) == 40


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_stops_a_batch() -> None:
    graphs = 4000
    ring = np.arange(100)
    edges = np.concatenate([np.stack([ring, (ring + 1) % 100]) + 100 * g for g in range(graphs)], axis=1)
    edges = np.concatenate([edges, edges[::-1]], axis=1)
    acc = cp.independent_set.Evaluator(decoders=["ils"], ils_iterations=20_000)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        acc.update_batch(
            [str(i) for i in range(graphs)],
            edge_index=edges,
            ptr=np.arange(graphs + 1) * 100,
            logits=np.random.default_rng(0).normal(size=100 * graphs),
        )
    timer.join()
    assert time.perf_counter() - start < 5.0
    assert len(acc) == 0


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


def test_the_command_line_runs_in_the_interpreter() -> None:
    said = run("-m", "calipers", "--version")
    assert (said.returncode, said.stdout) == (0, f"calipers {cp.__version__}\n")
    assert run("-m", "calipers", "explain", "nonsense").returncode == 2
    script = Path(sys.executable).with_name("calipers")
    if script.exists():
        assert subprocess.run([script, "list"], capture_output=True, check=True).stdout


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_closed_pipe_is_no_error() -> None:
    shell = f"{sys.executable} -m calipers list | head -1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_import_is_quick_and_takes_no_family_along() -> None:
    code = (
        "import sys, time; import numpy; t = time.perf_counter(); import calipers; "
        "print(time.perf_counter() - t); "
        "assert not {'calipers.segmentation', 'torch', 'pandas', 'json'} & set(sys.modules)"
    )
    best = min(float(run("-c", code.replace(", 'json'", "")).stdout) for _ in range(3))
    assert best < 0.05
    assert {"independent_set", "segmentation"} <= set(dir(cp))
    with pytest.raises(AttributeError, match="nonsense"):
        cp.nonsense  # noqa: B018

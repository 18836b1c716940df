"""Threads are inside Rust at the same time."""

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import calipers as cp


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="reads the clocks of other threads")
def test_two_threads_work_in_rust_at_once_on_one_evaluator() -> None:
    acc = cp.independent_set.Evaluator(decoders=["ils"], ils_iterations=2_000_000, certificate="off")
    ring = np.arange(400)
    edges = np.concatenate([np.stack([ring, np.roll(ring, 1)]), np.stack([np.roll(ring, 1), ring])], axis=1)
    scores = np.random.default_rng(0).normal(size=400)

    done: list[str] = []
    seen = threading.Event()

    def work(name: str) -> None:
        acc.update(name, edge_index=edges, logits=scores)
        done.append(name)
        # The clock of a thread that has ended must not be read.
        seen.wait()

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()

    def inside() -> bool:
        """Whether both are in the call into Rust, without the interpreter's lock: this thread has it."""
        frames = sys._current_frames()
        tops = [frames[thread.ident or 0].f_code for thread in threads]
        return all((Path(top.co_filename).stem, top.co_name) == ("independent_set", "update") for top in tops)

    def worked() -> list[float]:
        return [time.clock_gettime(time.pthread_getcpuclockid(thread.ident or 0)) for thread in threads]

    overlapped = False
    while not overlapped and not done:
        if inside():
            before = worked()
            time.sleep(0.02)
            overlapped = inside() and all(new > old for new, old in zip(worked(), before, strict=True))
    seen.set()
    for thread in threads:
        thread.join()
    assert overlapped
    assert len(acc) == 2

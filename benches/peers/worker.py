"""Runs jobs on request: one job name per line in, CPU seconds per line out."""

import sys
import time
from collections.abc import Callable


def serve(jobs: dict[str, Callable[[], object]]) -> None:
    """Answers until the input ends."""
    print("ready", flush=True)
    for line in sys.stdin:
        job = jobs[line.strip()]
        start = time.process_time()
        job()
        print(time.process_time() - start, flush=True)

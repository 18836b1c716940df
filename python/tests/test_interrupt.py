"""Ctrl-C stops one large unit, a batch and a bootstrap, and nothing of it is kept."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calipers as cp

RNG = np.random.default_rng(0)


def stopped(work: Callable[[], Any], after: float = 0.3) -> None:
    """Send this process SIGINT while the work goes on; it must end before long, and by the signal."""
    timer = threading.Timer(after, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        timer.join()
    # Far from the seconds that each of these takes, and far enough from the wait for a busy machine.
    assert time.perf_counter() - start < 5.0


def ring(nodes: int) -> Any:
    ends = np.stack([np.arange(nodes), np.roll(np.arange(nodes), 1)])
    return np.concatenate([ends, ends[::-1]], axis=1)


def test_a_mask_of_an_explanation() -> None:
    acc = cp.explanation.Evaluator()
    mask = RNG.random(30_000_000)
    stopped(lambda: acc.update("large", pred_mask=mask, target_mask=mask > 0.7))
    assert len(acc) == 0


def test_predictions_of_an_explanation() -> None:
    acc = cp.explanation.Evaluator(scores="logits")
    scores = np.broadcast_to(RNG.normal(size=(1, 500_000, 12)), (8, 500_000, 12)).copy()
    stopped(lambda: acc.update("large", y_hat=scores[0], y_sub_samples=scores))
    assert len(acc) == 0


def test_a_search_on_a_graph() -> None:
    acc = cp.independent_set.Evaluator(decoders=["ils"], ils_iterations=10**9, certificate="off")
    stopped(lambda: acc.update("large", edge_index=ring(400), logits=RNG.normal(size=400)))
    assert len(acc) == 0


def test_contours_of_a_segmentation() -> None:
    truth = RNG.integers(0, 4, size=(2000, 2000))
    pred = np.where(truth == 0, 1, 0)
    acc = cp.segmentation.Evaluator(
        labels={"original": 4}, kind="labels", measure=["contour"], boundary={"tolerance_px": 900}
    )
    # One corner of class 3 is all there is to be found, far from everything.
    truth[truth == 3], truth[0, 0] = 2, 3
    pred[-1, -1] = 3
    pred[truth == 2] = 3
    truth[0, 1:] = 0
    stopped(lambda: [acc.update(str(i), truth=truth, pred=pred) for i in range(10**6)])


def test_scores_of_a_segmentation() -> None:
    acc = cp.segmentation.Evaluator(labels={"original": 12}, kind="probs")
    scores = RNG.dirichlet(np.ones(12), size=(1200, 1200)).transpose(2, 0, 1).copy()
    truth = RNG.integers(0, 12, size=(1200, 1200))
    stopped(lambda: [acc.update(str(i), truth=truth, pred=scores) for i in range(10**6)])


def test_resamples_of_a_report() -> None:
    acc = cp.training.Evaluator(threshold=0.5)
    for fold in range(400):
        acc.update(f"group {fold % 20}/{fold}", RNG.random(50))
    stopped(lambda: acc.report(bootstrap=2_000_000))
    assert len(acc) == 400
    assert acc.report().units == 400


def test_a_signal_in_another_thread_is_left_to_the_main_one() -> None:
    acc = cp.independent_set.Evaluator(decoders=["ils"], ils_iterations=30_000, certificate="off")
    edges, logits = ring(400), RNG.normal(size=400)
    thread = threading.Thread(target=lambda: acc.update("one", edge_index=edges, logits=logits))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        time.sleep(5)
    thread.join()
    assert len(acc) == 1

"""Ctrl-C stops one large unit, a batch, a bootstrap and a comparison, and nothing of it is kept."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calipers as cp

pytestmark = pytest.mark.usefixtures("ctrl_c")
RNG = np.random.default_rng(0)


def stopped(work: Callable[[], Any], after: float = 0.3) -> None:
    """Send this process SIGINT while the work goes on, which takes seconds; the signal ends it."""
    timer = threading.Timer(after, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    timer.join()


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
    one = RNG.normal(size=(500_000, 12)).astype(np.float32)
    samples = np.stack([one] * 16)
    stopped(lambda: acc.update("large", y_hat=one, y_sub_samples=samples), after=0.15)
    assert len(acc) == 0


def test_a_search_on_a_graph() -> None:
    acc = cp.independent_set.Evaluator(decoders=["ils"], ils_iterations=10**9, certificate="off")
    stopped(lambda: acc.update("large", edge_index=ring(400), logits=RNG.normal(size=400)))
    assert len(acc) == 0


def test_a_graph_in_the_making() -> None:
    acc = cp.independent_set.Evaluator(baseline="none", certificate="off")
    nodes = 2_000_000
    edges = RNG.integers(0, nodes, size=(2, 20_000_000))
    stopped(lambda: acc.update("large", edge_index=edges, logits=np.zeros(nodes, np.float32)))
    assert len(acc) == 0


def test_the_bias_of_many_nodes() -> None:
    acc = cp.robustness.Evaluator()
    clean = RNG.normal(size=(600_000, 64))
    stopped(lambda: acc.update("large", clean=clean, attacked=clean[::-1].copy(), budget="0.1"), after=0.2)
    assert len(acc) == 0


def test_contours_of_a_segmentation() -> None:
    truth = np.zeros((2000, 2000), dtype=np.uint8)
    pred = truth.copy()
    # Contours so far apart that every pixel looks for a partner in its whole surroundings, in vain.
    truth[-3:, -3:] = 1
    pred[:600:2, :600:2] = 1
    acc = cp.segmentation.Evaluator(
        labels={"original": 2}, kind="labels", measure=["contour"], boundary={"tolerance_px": 900}
    )
    stopped(lambda: acc.update("large", truth=truth, pred=pred))
    assert len(acc) == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_the_training_of_a_model(threads: int) -> None:
    words = {"penalty": "l1", "weights": "exact", "epochs": 10**8, "threads": threads}
    stopped(lambda: cp.rung.train("synthetic", splits="stratified:1", **words))


def test_a_step_of_a_large_attack_and_one_pass_of_a_large_model() -> None:
    model = cp.rung.train("synthetic", splits="stratified:1", penalty="l1", weights="exact", epochs=1)
    large = {"features": RNG.random((20_000, 32)), "labels": np.arange(20_000) % 4}
    nodes = {"splits": {"test": range(20_000)}}
    stopped(lambda: cp.rung.attack(ring(20_000), model, 0.2, **large, **nodes, attack_memory="8GiB"))
    edges, rows = ring(400_000), RNG.random((400_000, 32))
    started = time.perf_counter()
    stopped(lambda: [model(edges, rows) for _ in range(1000)])
    assert time.perf_counter() - started < 60


def test_resamples_of_a_report() -> None:
    acc = cp.training.Evaluator(threshold=0.5)
    for fold in range(400):
        acc.update(f"group {fold % 20}/{fold}", RNG.random(50))
    stopped(lambda: acc.report(bootstrap=2_000_000))
    assert len(acc) == 400
    assert acc.report().units == 400


@pytest.mark.parametrize("threads", [1, 2])
def test_resamples_of_a_comparison(threads: int) -> None:
    def measured() -> Any:
        acc = cp.independent_set.Evaluator(baseline="none", certificate="off")
        for unit in range(2000):
            acc.update(f"g{unit}", edge_index=ring(4), logits=RNG.normal(size=4), labels=[1, 0, 1, 0])
        return acc

    pair = measured(), measured()
    stopped(lambda: cp.compare(*pair, metrics=["accuracy"], resamples=1_000_000, threads=threads))


def test_a_signal_in_another_thread_is_left_to_the_main_one() -> None:
    acc = cp.independent_set.Evaluator(decoders=["ils"], ils_iterations=30_000, certificate="off")
    edges, logits = ring(400), RNG.normal(size=400)
    thread = threading.Thread(target=lambda: acc.update("one", edge_index=edges, logits=logits))
    thread.start()

    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    thread.join()
    assert len(acc) == 1

"""Lightning's own idioms give the number of the whole epoch, on one process and on two."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import calipers as cp

pytest.importorskip("torch")
pytest.importorskip("torchmetrics")
pytest.importorskip("lightning")
pytestmark = pytest.mark.compat

WORKER = Path(__file__).with_name("lightning_worker.py")


@pytest.fixture(scope="module", params=[1, 2])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Train, on that many processes."""
    output = tmp_path_factory.mktemp("lightning") / "told.json"
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(WORKER), str(request.param), str(output)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(output.read_text())


@pytest.fixture(scope="module")
def report() -> cp.Report:
    """Measure the images here."""
    from lightning_worker import IMAGES, LABELS, image

    acc = cp.segmentation.Evaluator(LABELS, kind="logits")
    for i in range(IMAGES):
        pred, truth = image(i)
        acc.update(str(i), truth=truth, pred=pred)
    return acc.report()


def test_log_and_log_dict_give_the_number_of_the_epoch(told: Any, report: cp.Report) -> None:
    values = told["values"]
    assert values["val/miou"] == values["val/miou_epoch"] == report["miou"].hex()
    assert values["val/sky"] == report["iou"]["sky"].hex()
    assert values["all/miou"] == report["miou"].hex()
    assert values["all/pixel_accuracy"] == report["pixel_accuracy"].hex()
    assert {name for name in values if name.startswith("all/iou.")} == {
        "all/iou.road", "all/iou.sky", "all/iou.car",
    }  # fmt: skip


def test_every_epoch_begins_anew_and_the_sanity_check_leaves_nothing(told: Any) -> None:
    sanity, *epochs = told["units"]
    assert sanity in (2, 4, 7)
    assert epochs == [7, 7]


def test_several_numbers_are_no_number_to_log(told: Any) -> None:
    if "error" not in told:
        pytest.skip("asked of one process")
    kind, text = told["error"]
    assert kind == "UsageError"
    assert 'metric["miou"]' in text
    assert "metrics=" in text

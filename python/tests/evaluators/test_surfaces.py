"""Surface distances of masks, images and volumes from Python."""

import json
from pathlib import Path

import numpy as np
import pytest

import calipers as cp

GOLDEN = Path(__file__).parents[3] / "oracles" / "segmentation" / "surface.json"


def cases() -> list[dict]:
    return [case for case in json.loads(GOLDEN.read_text())["cases"] if "expect" in case]


def test_evaluators_agree_with_the_golden_cases() -> None:
    for case in cases():
        given = case["config"]
        acc = cp.segmentation.Evaluator(
            given["labels"], surface=given["surface"], images=given.get("images"), measure=given["measure"]
        )
        for unit in case["units"]:
            spacing = unit.get("spacing", given.get("data", {}).get("spacing"))
            truth, pred = np.array(unit["truth"], np.uint8), np.array(unit["pred"]["flat"], np.uint8)
            acc.update(unit["id"], truth=truth, pred=pred, spacing=spacing)
        report = acc.report()
        for name, expected in case["expect"]["metrics"].items():
            found = report[name]
            assert (found is None) == (expected is None), (case["name"], name)
            if isinstance(expected, dict):
                assert list(found) == list(expected)
                for key, value in expected.items():
                    assert found[key] == (None if value is None else pytest.approx(value, rel=1e-12, abs=0))
            elif expected is not None:
                assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_one_pair_of_masks_has_the_numbers_of_a_class() -> None:
    truth, pred = np.zeros((9, 12), bool), np.zeros((9, 12), bool)
    truth[1:4, 1:5] = pred[1:4, 1:5] = pred[7, 11] = True
    found = cp.segmentation.surface_distances(pred, truth, percentile=90)
    assert found["hd"] == 65**0.5
    assert found["hd95"] == pytest.approx(65**0.5 / 2, rel=1e-15)
    assert found["nsd"] is None
    assert found["hd_p"] == 0.0
    assert cp.segmentation.surface_distances(pred, truth, convention="medpy")["hd95"] == 0.0
    wide = cp.segmentation.surface_distances(pred, truth, spacing=2)
    assert wide["hd"] == 2 * 65**0.5
    assert "hd_p" not in wide


def test_nothing_to_measure_is_none() -> None:
    empty, full = np.zeros((3, 4, 5), int), np.ones((3, 4, 5), int)
    assert cp.segmentation.surface_distances(empty, full, tolerance=1)["hd"] is None
    assert cp.segmentation.surface_distances(empty, full, tolerance=1)["nsd"] == 0.0
    assert cp.segmentation.surface_distances(empty, empty)["dice"] is None


def test_what_cannot_be_meant_is_refused_in_words_of_python() -> None:
    mask = np.zeros((3, 4), int)
    for keys, words in [
        ({"spacing": (1, 2, 3)}, ["spacing", "3 numbers"]),
        ({"spacing": 0}, ["spacing", "0"]),
        ({"convention": "scipy"}, ["convention", "scipy"]),
        ({"percentile": 101}, ["percentile", "101"]),
        ({"tolerance": -1}, ["tolerance", "-1"]),
    ]:
        with pytest.raises((ValueError, TypeError)) as error:
            cp.segmentation.surface_distances(mask, mask, **keys)
        assert all(word in str(error.value) for word in words), str(error.value)
    with pytest.raises(cp.UsageError, match="connectivity"):
        cp.segmentation.Evaluator(2, surface={"connectivity": 2})


def test_batches_and_volumes_take_a_spacing() -> None:
    rng = np.random.default_rng(1)
    truth, pred = rng.integers(0, 3, (2, 4, 5, 6, 7), np.uint8)
    together = cp.segmentation.Evaluator(3, measure=["surface", "overlap"])
    together.update_batch(["a", "b", "c", "d"], truth=truth, pred=pred, spacing=(2, 1, 0.5))
    apart = cp.segmentation.Evaluator(3, measure=["surface", "overlap"])
    for at, name in enumerate("abcd"):
        apart.update(name, truth=truth[at], pred=pred[at], spacing=(2, 1, 0.5))
    assert together == apart
    table = apart.per_unit()
    assert table["depth"] == [5] * 4
    assert table["spacing"] == ["2;1;0.5"] * 4
    assert cp.segmentation.Evaluator.from_bytes(apart.to_bytes()) == apart

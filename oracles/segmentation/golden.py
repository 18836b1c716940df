"""What the oracle of segmentations writes."""
import functools

import case_file

from . import cases, surface_cases, surface_oracle

# What every case decides over. An id that came later is pinned by the cases that name it in `pins`.
PINS = """miou iou pixel_accuracy mean_class_accuracy precision mean_precision recall mean_recall f1 mean_f1
classification_error background_error missed_error fwiou kappa truth_pixels pred_pixels scored_pixels ignored_pixels
unpredicted_pixels confusion miou_image iou_image pixel_accuracy_image biou biou_class biou_macro boundary_precision
boundary_recall boundary_f1 biou_image boundary_iou_cheng boundary_iou_cheng_class contour_precision contour_recall
contour_f1 contour_f1_class contour_f1_macro nll brier ece mce mean_confidence nll_infinite_pixels reliability_count
reliability_confidence reliability_accuracy nll_image brier_image ece_image temperature_nll best_temperature
ece_per_class ece_classwise head_miou head_pixel_accuracy head_biou""".split()


def reports(make):
    return {f"{make.__name__}.json": case_file.text(PINS, cases.group(make))}


# Reports have these where their part is asked for, and nowhere else.
SURFACE_PINS = """dice hd hd95 hd_p asd_from_truth asd_from_pred assd masd nsd mean_dice mean_hd mean_hd95 mean_hd_p
mean_assd mean_masd mean_nsd surface_both_units surface_missed_units surface_invented_units surface_absent_units miou_i
iou_c miou_c miou_i_q miou_c_q miou_i_qbar miou_c_qbar miou_image_p5 miou_image_p25 miou_image_p50 miou_image_p75
miou_image_p95""".split()


def surface():
    made = []
    for case in surface_cases.CASES:
        units = [{**unit, "pred": {"flat": unit["pred"]}} for unit in case["units"]]
        one = {"name": case["name"], "note": case["about"], "config": case["config"], "units": units}
        if "error" in case:
            one["refused"] = case["error"]
        else:
            report = surface_oracle.evaluate(case["config"], case["units"])
            one["expect"] = case_file.without_prefix("segmentation", report)
        made.append(one)
    return {"surface.json": case_file.text(SURFACE_PINS, made)}


GROUPS = (cases.overlap, cases.boundary, cases.calibration, cases.fusion, cases.errors)
FILES = [*(functools.partial(reports, make) for make in GROUPS), surface]
NEARLY = set()
RECORDED = {"surfels.json"}

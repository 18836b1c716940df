"""What the oracle of segmentations writes."""
import functools

import case_file

from . import cases

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


GROUPS = (cases.overlap, cases.boundary, cases.calibration, cases.fusion, cases.errors)
FILES = [functools.partial(reports, make) for make in GROUPS]
NEARLY = set()
RECORDED = set()

"""Surface distances of two volumes of labels, class by class, with the libraries most results were computed with."""

import sys
from pathlib import Path

import edt
import numpy as np
import SimpleITK as sitk
import surface_distance
import torch
from medpy.metric import binary
from monai.metrics import (
    HausdorffDistanceMetric,
    SurfaceDiceMetric,
    SurfaceDistanceMetric,
)
from scipy import ndimage
from worker import serve

AXES = (128, 192, 192)
CLASSES = 8
TOLERANCE = 2.0
SPACINGS = {"1": (1.0, 1.0, 1.0), "2": (2.0, 0.75, 0.75)}


def one_hot(labels):
    return torch.from_numpy(np.stack([labels == label for label in range(CLASSES)])[None])


def monai(truth, pred, spacing, names):
    """Means over the foreground classes."""
    metrics = {
        "hd": HausdorffDistanceMetric(),
        "hd95": HausdorffDistanceMetric(percentile=95),
        "assd": SurfaceDistanceMetric(symmetric=True),
        "nsd": SurfaceDiceMetric([TOLERANCE] * (CLASSES - 1)),
    }
    hot = one_hot(pred), one_hot(truth)
    for name in names:
        metrics[name](*hot, spacing=spacing)
    return [metrics[name].aggregate() for name in names]


def deepmind(truth, pred, spacing):
    found = []
    for label in range(1, CLASSES):
        distances = surface_distance.compute_surface_distances(truth == label, pred == label, spacing)
        found.append(
            (
                surface_distance.compute_robust_hausdorff(distances, 95),
                surface_distance.compute_average_surface_distance(distances),
                surface_distance.compute_surface_dice_at_tolerance(distances, TOLERANCE),
            )
        )
    return found


def medpy(truth, pred, spacing):
    return [
        [of(pred == label, truth == label, spacing) for of in (binary.hd, binary.hd95, binary.assd)]
        for label in range(1, CLASSES)
    ]


def transforms(truth, pred, spacing):
    """The distance transform of the complement of each border, read at the other border."""
    found = []
    for label in range(1, CLASSES):
        masks = [labels == label for labels in (truth, pred)]
        borders = [mask & ~ndimage.binary_erosion(mask) for mask in masks]
        fields = [edt.edt(~border, anisotropy=spacing, parallel=1) for border in borders]
        found.append((fields[1][borders[0]].max(), fields[0][borders[1]].max()))
    return found


def itk(truth, pred, spacing):
    """Maurer's distance to each contour, read at the other contour."""
    found = []
    for label in range(1, CLASSES):
        images = [sitk.GetImageFromArray((labels == label).astype(np.uint8)) for labels in (truth, pred)]
        for image in images:
            image.SetSpacing(spacing[::-1])
        contours = [sitk.LabelContour(image, fullyConnected=False) for image in images]
        fields = [
            sitk.Abs(sitk.SignedMaurerDistanceMap(contour, squaredDistance=False, useImageSpacing=True))
            for contour in contours
        ]
        at = [
            sitk.GetArrayViewFromImage(field)[sitk.GetArrayViewFromImage(contour) > 0]
            for field, contour in zip(fields, contours[::-1], strict=True)
        ]
        found.append([side.max() for side in at])
    return found


def main():
    torch.set_num_threads(1)
    sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    folder = Path(sys.argv[1])
    truth, pred = (np.load(folder / name).reshape(AXES) for name in ("truth.npy", "pred.npy"))
    jobs = {}
    for key, spacing in SPACINGS.items():
        of = {
            "monai hd95": lambda steps: monai(truth, pred, steps, ["hd95"]),
            "monai": lambda steps: monai(truth, pred, steps, ["hd", "hd95", "assd", "nsd"]),
            "deepmind": lambda steps: deepmind(truth, pred, steps),
            "medpy": lambda steps: medpy(truth, pred, steps),
            "edt": lambda steps: transforms(truth, pred, steps),
            "itk": lambda steps: itk(truth, pred, steps),
        }
        for name, job in of.items():
            jobs[f"{name} {key}"] = lambda job=job, steps=spacing: job(steps)
    serve(jobs)


main()

"""Decoding every PNG below a folder with OpenCV, and nothing else."""

import sys
from pathlib import Path

import cv2
from worker import serve


def main() -> None:
    cv2.setNumThreads(1)
    files = sorted(str(file) for file in Path(sys.argv[1]).rglob("*.png"))
    serve({"decode": lambda: [cv2.imread(file, cv2.IMREAD_UNCHANGED) for file in files]})


if __name__ == "__main__":
    main()

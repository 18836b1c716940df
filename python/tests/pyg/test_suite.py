"""torch_geometric's own tests of these functions, run unmodified on ours."""

import importlib.util
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.compat
ROOT = Path(__file__).parents[3]
FILES = ("test_basic_metric.py", "test_faithfulness.py", "test_fidelity.py")
SOURCE = "https://raw.githubusercontent.com/pyg-team/pytorch_geometric/{version}/test/explain/metric/{file}"


def suite() -> Path:
    """Return the folder of the tests, fetched once; neither wheel nor source archive holds them."""
    from importlib.metadata import version

    folder = ROOT / "target/pyg-tests" / version("torch_geometric")
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        if (folder / file).exists():
            continue
        address = SOURCE.format(version=version("torch_geometric"), file=file)
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                (folder / file).write_bytes(answer.read())
        except OSError as error:
            pytest.skip(f"torch_geometric's tests cannot be fetched: {error}")
    return folder


def test_the_published_tests_pass_on_our_functions() -> None:
    for module in ("torch_geometric", "torchmetrics"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "swap_pyg", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, "--rootdir", str(suite()), str(suite())]
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    run = subprocess.run(command, capture_output=True, text=True, env=here)
    assert run.returncode == 0, run.stdout[-3000:]

"""Files on real servers of this machine, S3 and HTTP, give the report of the folder."""

import http.server
import json
import pathlib
import threading
import zipfile
from collections.abc import Iterator
from typing import Any

import boto3
import numpy as np
import pytest
from moto.server import ThreadedMotoServer

import calipers as cp

BUCKET = "evidence"


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Make truth and predictions of three images, and both in an archive."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    archive = zipfile.ZipFile("all.zip", "w", zipfile.ZIP_DEFLATED)
    for kind in ("gt", "out"):
        (tmp_path / kind / "deep").mkdir(parents=True)
        for name in ("a", "deep/b", "deep/c"):
            path = pathlib.Path(kind, f"{name}.npy")
            np.save(path, rng.integers(0, 3, (8, 8), dtype=np.uint8))
            archive.write(path)
        names = [str(path.relative_to(kind)) for path in pathlib.Path(kind).rglob("*.npy")]
        pathlib.Path(kind, "listing.txt").write_text("\n".join(names))
    archive.close()
    return tmp_path


@pytest.fixture
def s3(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the folder as a bucket."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": "hush",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    for path in folder.rglob("*.[nz]*"):
        if path.is_file():
            client.put_object(Bucket=BUCKET, Key=str(path.relative_to(folder)), Body=path.read_bytes())
    # What stands for a folder in a console is an empty object.
    client.put_object(Bucket=BUCKET, Key="gt/deep/", Body=b"")
    yield f"s3://{BUCKET}"
    server.stop()


@pytest.fixture
def http_root(folder: pathlib.Path) -> Iterator[str]:
    """Serve the folder by the server of the standard library, which knows no ranges."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(folder))

        def log_message(self, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def report(truth: str, pred: str) -> dict[str, Any]:
    measured = cp.segmentation.evaluate(truth=truth, pred=pred, classes=3)
    return dict(json.loads(measured.report().to_json()))


def without_root(of: dict[str, Any], root: str) -> dict[str, Any]:
    for given in of["inputs"]:
        for key in ("path", "below"):
            given[key] = given[key].removeprefix(root).lstrip("/")
    return of


def test_a_bucket_gives_the_report_of_the_folder(s3: str) -> None:
    local = without_root(report("gt", "out"), "")
    assert without_root(report(f"{s3}/gt", f"{s3}/out"), s3) == local
    packed = report(f"{s3}/all.zip/gt", f"{s3}/all.zip/out")
    assert without_root(packed, f"{s3}/all.zip") == local


def test_a_web_server_gives_the_report_of_the_folder(http_root: str) -> None:
    local = without_root(report("gt", "out"), "")
    assert without_root(report(f"{http_root}/gt/", f"{http_root}/out/"), http_root) == local


def test_what_a_bucket_does_not_hold_is_said_without_its_keys(s3: str) -> None:
    for address in (f"{s3}/none", "s3://nobody/gt"):
        with pytest.raises(cp.CalipersError) as raised:
            report(address, "out")
        assert address in str(raised.value)
        assert "hush" not in str(raised.value)

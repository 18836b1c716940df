"""No request makes the page server open a file that is not of its folder: its system calls say so."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

REPORT = """{"calipers": "0.1.0", "protocol": {"name": "training"}, "units": 3, "metrics": {},
"undefined": {}, "warnings": [],
"inputs": [{"path": "/etc/hostname", "bytes": 1, "blake3": "%s", "role": "input"}]}"""

ATTACKS = [
    "/../../../../etc/passwd",
    "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/%252e%252e/%252e%252e/etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/..%5c..%5c..%5cetc%5cpasswd",
    "/..\\..\\..\\etc\\passwd",
    "//etc/passwd",
    # In pieces, because no file here may name a place on a machine.
    "//proc/self/" + "root/etc/passwd",
    "/proc/self/environ",
    "/etc/passwd%00.json",
    "/?path=/etc/passwd",
    "/report/?path=/etc/passwd",
    "/report/../../etc/passwd",
    "/report/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/report//etc/passwd",
    "/report/etc/passwd",
    "/report/0000000000000000",
    "/report/................",
    "/report/%2fetc%2fpasswd",
    "/report/link.json",
    "/report/a.json",
    "/compare/../../../etc/passwd",
    "/compare/0000000000000000/%2fetc%2fpasswd",
    "/list.json/../../etc/passwd",
    "/list.json?file=../../etc/passwd",
    "/list.js/%2e%2e/%2e%2e/etc/passwd",
    "/#/etc/passwd",
    "file:///etc/passwd",
    "http://evil.example/etc/passwd",
    "/.%00./.%00./etc/passwd",
    "/%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd",
    "/" + "../" * 400 + "etc/passwd",
]


def ask(port: int, cookie: str, target: str) -> tuple[int, bytes]:
    """Send a request as it is and give the status and the text of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        head = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n"
        connection.sendall(head.encode("latin-1"))
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return int(answer.split(b" ", 2)[1]), answer


def paths(trace: str) -> set[str]:
    """Every path that a system call names; an empty one stands for a file that is open already."""
    return set(re.findall(r'"((?:[^"\\]|\\.)*)"', trace)) - {""}


def watched(program: str, tmp_path: Path, *options: str) -> tuple[Path, set[str], dict[str, int]]:
    """Attack a server and open its report: its folder, the paths it names meanwhile, and its answers."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("there is no strace to watch the server with")
    folder, trace = tmp_path / "served", tmp_path / "trace"
    folder.mkdir()
    (folder / "a.json").write_text(REPORT % ("0" * 64))
    (folder / "link.json").symlink_to("/etc/passwd")
    words = [strace, "-f", "-qq", "-s", "4096", "-e", "trace=%file", "-o", str(trace)]
    words += [program, "serve", str(folder), *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if not address:
            pytest.skip(f"strace may not watch here: {server.communicate()[1].strip()}")
        port, token = urlsplit(address).port, urlsplit(address).query.removeprefix("token=")
        assert port is not None
        cookie = f"Cookie: calipers-{port}={token}\r\n"
        status, listed = ask(port, cookie, "/list.json")
        assert status == 200
        before = trace.stat().st_size
        statuses = {target: ask(port, cookie, target)[0] for target in ATTACKS}
        own = re.search(rb'"id":"([0-9a-f]{16})"', listed)
        assert own is not None
        assert ask(port, cookie, f"/report/{own[1].decode()}")[0] == 200
        time.sleep(0.2)
        seen = paths(trace.read_text()[before:])
        subprocess.run(["pkill", "-TERM", "-P", str(server.pid)], check=False)
        server.terminate()
    return folder, seen, statuses


def test_no_request_opens_a_foreign_path(program: str, tmp_path: Path) -> None:
    folder, seen, statuses = watched(program, tmp_path)
    assert any(path.startswith(str(folder)) for path in seen), "the folder itself is seen"
    # Whether a file is still in the folder is asked along the way to it.
    way = {str(parent) for parent in folder.parents}
    assert {path for path in seen if not path.startswith(str(folder))} - way == set()
    answered = {target for target, status in statuses.items() if status == 200}
    assert all(target.startswith(("/?", "/list.json?", "/#")) for target in answered), answered


def test_a_foreign_path_would_be_seen(program: str, tmp_path: Path) -> None:
    _, seen, _ = watched(program, tmp_path, "--inputs")
    assert "/etc/hostname" in seen, "which the report names, and the server was told to open"
    assert "/etc/passwd" not in seen

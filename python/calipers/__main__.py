"""The command line: `python -m calipers` and the script `calipers`."""

from __future__ import annotations

import contextlib
import signal
import sys

from calipers._calipers import run_process


def main() -> int:
    """Run the command line with this program's arguments and return its exit status."""
    # Ctrl-C ends the program, not a call in it: every output file is whole or not there.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return run_process(["calipers", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

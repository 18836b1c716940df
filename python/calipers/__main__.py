"""The command line: `python -m calipers` and the script `calipers`."""

from __future__ import annotations

import contextlib
import signal
import sys

from calipers._calipers import run_cli


def main() -> int:
    """Run the command line with this program's arguments and return its exit status."""
    # Ctrl-C ends the program at once: every output file is whole or not there.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return run_cli(["calipers", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

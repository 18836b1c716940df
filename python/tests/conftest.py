"""What all tests share."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis.configuration import set_hypothesis_home_dir

# What hypothesis remembers lies below `target/`, like everything else that is made.
set_hypothesis_home_dir("target/hypothesis")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, also where a shell that runs this in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

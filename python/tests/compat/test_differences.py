"""The table of deliberate differences is one table, in the package and in the documents."""

from pathlib import Path

import calipers as cp
from calipers import compat

PAGE = Path(__file__).parents[3] / "docs/drop-ins.md"


def test_the_documents_list_every_difference_and_no_other() -> None:
    rows = [
        line for line in PAGE.read_text().split("## Deliberate differences")[1].splitlines() if "|" in line
    ]
    found = ["| " + " | ".join(difference) + " |" for difference in compat.differences()]
    assert rows[2:] == found


def test_a_difference_names_numbers_that_there_are() -> None:
    ids = {metric.id for metric in cp.metrics()}
    for difference in compat.differences():
        assert difference.numbers or difference.library == "all", difference
        assert ids.issuperset(difference.numbers)


def test_a_difference_says_everything() -> None:
    for difference in compat.differences():
        assert all(difference)
        assert difference.theirs != difference.ours or difference.library == "all"

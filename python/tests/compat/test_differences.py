"""The table of deliberate differences is one table, in the package and in the documents."""

from pathlib import Path

from calipers import compat

PAGE = Path(__file__).parents[3] / "docs/drop-ins.md"


def test_the_documents_list_every_difference_and_no_other() -> None:
    rows = [
        line for line in PAGE.read_text().split("## Deliberate differences")[1].splitlines() if "|" in line
    ]
    found = ["| " + " | ".join(difference) + " |" for difference in compat.differences()]
    assert rows[2:] == found


def test_a_difference_says_everything() -> None:
    for difference in compat.differences():
        assert all(difference)
        assert difference.theirs != difference.ours or difference.library == "all"

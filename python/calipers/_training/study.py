"""The three tables of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from calipers import _calipers
from calipers._inputs.paths import Path
from calipers._report import frames

if TYPE_CHECKING:
    import pandas as pd


class Table:
    """A row for every configuration: test scores, saturation, cost and origin."""

    def __init__(self, texts: Sequence[str], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Take the CSV, the Markdown and the LaTeX of a table, and its cells."""
        self._texts = tuple(texts)
        self._columns = list(columns)
        self._rows = [list(row) for row in rows]

    def to_csv(self) -> str:
        """Return every column with every digit."""
        return self._texts[0]

    def to_markdown(self) -> str:
        """Return the table for papers, rounded and without paths."""
        return self._texts[1]

    def to_latex(self) -> str:
        """Return the table for papers, rounded and without paths."""
        return self._texts[2]

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame; the positions of the configurations in the study are its index."""
        columns = {name: [row[at] for row in self._rows] for at, name in enumerate(self._columns)}
        positions = [int(position) for position in columns.pop("")]
        made: pd.DataFrame = frames.frame(columns, "pandas")
        made.index = positions
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._texts == other._texts

    def __hash__(self) -> int:
        return hash(self._texts)

    def __repr__(self) -> str:
        return f"Table({len(self._rows)} rows, {len(self._columns)} columns)"


@dataclass(frozen=True)
class Tables:
    """The tables of a study: strictly, wisely and naively aggregated.

    `warnings` says what looks wrong: `code`, `message` and the `units` concerned.
    """

    strict: Table
    mean_wise: Table
    mean_naive: Table
    warnings: list[dict[str, Any]] = field(default_factory=list, compare=False)

    def __iter__(self) -> Iterator[Table]:
        return iter((self.strict, self.mean_wise, self.mean_naive))

    def __repr__(self) -> str:
        return f"Tables(strict, mean_wise, mean_naive: {self.strict!r})"

    def write(self, prefix: Path) -> None:
        """Write the nine files that the command line's `--table` writes: .csv, .md and .tex of each."""
        _calipers.training_write_tables(prefix, [list(table._texts) for table in self])

"""Prints lists as tables that fit the terminal.

Ids and times are never cut. If a table is too wide, the least important columns are left out and named below it. An
empty list says so.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.table import Table

from horae.boot.output import answer, err, out

BORDER: Final = 3
"""Characters that a column needs besides its text: the line, and a space on both sides."""
WRAPPED_WIDTH: Final = 16
"""The width below which a text is not wrapped."""
Row = Sequence[object]


def answer_rows(
    facts: object,
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    empty: str,
    least: Sequence[str] = (),
    wraps: Collection[str] = (),
    title: str | None = None,
) -> None:
    """Print a list: its facts for programs, a table for people, or `empty` where nothing is in it.

    `least` has the columns that are left out on a narrow terminal, the least important first. `wraps` has the columns
    whose texts may take several lines.
    """
    answer(facts, lambda: print_rows(columns, rows, empty=empty, least=least, wraps=wraps, title=title))


def print_rows(
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    empty: str,
    least: Sequence[str] = (),
    wraps: Collection[str] = (),
    title: str | None = None,
) -> None:
    """Print a table, or `empty` where it has no row."""
    if title is not None:
        out.print(title, highlight=False, soft_wrap=True)
    if not rows:
        out.print(empty, highlight=False, soft_wrap=True)
        return
    texts = [["" if fact is None else str(fact) for fact in row] for row in rows]
    visible = list(_fitting(columns, texts, least, wraps))
    table = Table()
    for column in visible:
        table.add_column(column, no_wrap=column not in wraps, overflow="fold")
    for row in texts:
        table.add_row(*(row[columns.index(column)] for column in visible))
    needed = sum(_widths(columns, texts, wraps)[columns.index(column)] + BORDER for column in visible) + 1
    out.print(table, width=max(out.width, needed), crop=False, no_wrap=needed > out.width)
    if hidden := [column for column in columns if column not in visible]:
        err.print(f"not visible in {out.width} columns: {', '.join(hidden)}; --json has everything", style="dim")


def _fitting(
    columns: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[str], wraps: Collection[str]
) -> Iterator[str]:
    """The columns that fit, in their order: the least important ones are left out first."""
    widths = dict(zip(columns, _widths(columns, rows, wraps), strict=True))
    empty = [column for number, column in enumerate(columns) if not any(row[number] for row in rows)]
    for column in (*(one for one in least if one in empty), *(one for one in least if one not in empty)):
        if sum(width + BORDER for width in widths.values()) + 1 <= out.width:
            break
        del widths[column]
    yield from widths


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], wraps: Collection[str]) -> list[int]:
    """The width that each column needs: its longest text, or less where it may take several lines."""
    found = []
    for number, column in enumerate(columns):
        longest = max([cell_len(column), *(cell_len(row[number]) for row in rows)])
        found.append(min(longest, max(WRAPPED_WIDTH, cell_len(column))) if column in wraps else longest)
    return found

"""The text of `horae --help`, made of the words of the command line alone."""

import shutil
from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Final

from horae.boot.words import SUMMARY, WORDS

USAGE: Final = 2
"""The exit code where no command is given."""
MAX_WIDTH: Final = 100
OPTIONS: Final = {
    "--config": "The settings file; HORAE_CONFIG or /etc/horae/horae.toml where omitted.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it or customize the installation.",
    "--help": "Show this message and exit.",
}
OWN: Final = {"version": "Print the release of this program."}
"""Commands that have no module of their own."""


def text(width: int) -> str:
    """The page for a terminal of that width."""
    commands = {word: home.help for word, home in WORDS.items()} | OWN
    lines = [
        "Usage: horae COMMAND [OPTIONS] [ARGUMENTS]",
        "",
        SUMMARY,
        "",
        "Commands:",
        *_list(dict(sorted(commands.items())), width),
        "",
        "Options:",
        *_list(OPTIONS, width),
        "",
        "`horae COMMAND --help` explains one command.",
    ]
    return "\n".join(lines) + "\n"


def terminal_width() -> int:
    """The width of this terminal, or less where lines would be too long to read."""
    return min(shutil.get_terminal_size().columns, MAX_WIDTH)


def _list(entries: Mapping[str, str], width: int) -> Iterator[str]:
    """The entries below each other, each with its text in a second column."""
    indent = max(map(len, entries)) + 4
    for name, said in entries.items():
        head = f"  {name}".ljust(indent)
        yield fill(said, max(width, indent + 20), initial_indent=head, subsequent_indent=" " * indent)

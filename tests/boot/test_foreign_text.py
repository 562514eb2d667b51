"""What others wrote is shown by the command line as it is: no markup, and nothing that steers the terminal."""

from pathlib import Path

from rich.table import Table

import horae.boot
from horae.boot.output import Terminal

KEY = "[/a]"
MESSAGE = "a[b] c [/b] :smile: \x1b]0;owned\x07 \x1b[2J \u202e"
SHOWN = "a[b] c [/b] :smile: \N{REPLACEMENT CHARACTER}]0;owned"


def test_a_table_shows_keys_and_messages_as_they_are(horae):
    horae("migrate")
    horae("job", "create", "T", "--keyed")
    horae("task", "put", "T", KEY)
    assert KEY in horae("instance", "list")
    assert KEY in horae("task", "show", "T", KEY)
    horae("key", "create", "k[red]", "--role", "viewer")
    assert "k[red]" in horae("key", "list")


def test_a_terminal_prints_no_markup_no_emoji_and_no_control_characters(capsys):
    table = Table("why [/x]", title=MESSAGE)
    table.add_row(MESSAGE)
    terminal = Terminal(width=200)
    terminal.print(table)
    terminal.print(MESSAGE)
    said = capsys.readouterr().out
    assert said.count(SHOWN) == 3
    assert "why [/x]" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_commands_print_by_that_terminal_only():
    folder = Path(horae.boot.__file__).parent
    for file in folder.rglob("*.py"):
        text = file.read_text()
        assert "markup=True" not in text, file
        assert "rich.console" not in text or file.name == "output.py", file

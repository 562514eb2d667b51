"""The command line: `horae --help` lists all commands.

A command imports only its own module. Most commands run for a moment, and importing all modules would take most of that
time.
"""

import sys
from functools import cache
from importlib import import_module

import typer

from horae import __version__
from horae.boot.manual import page
from horae.boot.output import answer, say
from horae.boot.verbs import Verbs
from horae.boot.words import SUMMARY, WORDS


@cache
def whole() -> Verbs:
    """All commands."""
    return app_of(*WORDS)


def main() -> None:
    """Run the command that the command line names."""
    match sys.argv[1:2]:
        case [word] if word in WORDS:
            app_of(word)()
        case ["version"]:
            app_of()()
        case _:
            whole()()


def app_of(*words: str) -> Verbs:
    """An app with the named commands, each as it is in the whole app."""
    app = Verbs(name="horae", help=SUMMARY, no_args_is_help=True)
    for word in words:
        room = WORDS[word]
        found = getattr(import_module(f"horae.boot.commands.{room.module}"), room.name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=word, help=room.help)
        else:
            app.command(word)(found)
    app.command()(version)
    app.command(hidden=True)(manual)
    return app


def version() -> None:
    """Print the release of this program."""
    say({"version": __version__}, __version__)


def manual() -> None:
    """Print the page docs/cli.md."""
    text = page(whole())
    answer({"page": text}, lambda: print(text, end=""))

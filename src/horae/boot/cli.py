"""The command line: `horae --help` lists all commands.

A command imports only its own module. Most commands run for a moment, and importing all modules would take most of that
time.
"""

import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated

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
    match _without_config(_typed_words() or sys.argv[1:])[:1]:
        case [word] if word in WORDS:
            app_of(word)()
        case ["version"]:
            app_of()()
        case _:
            whole()()


def app_of(*words: str) -> Verbs:
    """An app with the named commands, each as it is in the whole app."""
    app = Verbs(name="horae", help=SUMMARY, no_args_is_help=True)
    app.callback(no_args_is_help=True)(take_config)
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


def take_config(
    config: Annotated[
        Path | None, typer.Option(help="The settings file; HORAE_CONFIG or /etc/horae/horae.toml where omitted.")
    ] = None,
) -> None:
    """Note the settings file for this process and those that it starts."""
    if config is not None:
        os.environ["HORAE_CONFIG"] = str(config)


def _typed_words() -> list[str]:
    """The words before the one in which Tab was pressed; empty where no shell asks for completions.

    Bash says where the cursor is, other shells give the words up to it.
    """
    if "_HORAE_COMPLETE" not in os.environ:
        return []
    typed = os.environ.get("_TYPER_COMPLETE_ARGS", os.environ.get("COMP_WORDS", "")).split(" ")
    return typed[1 : int(os.environ.get("COMP_CWORD", len(typed) - 1))]


def _without_config(words: list[str]) -> list[str]:
    """The words of a command line behind the option that every command has."""
    match words:
        case ["--config", _, *rest]:
            return rest
        case [first, *rest] if first.startswith("--config="):
            return rest
    return words


def version() -> None:
    """Print the release of this program."""
    say({"version": __version__}, __version__)


def manual() -> None:
    """Print the page docs/cli.md."""
    text = page(whole())
    answer({"page": text}, lambda: print(text, end=""))

"""Texts that nobody else may see: they are prompted for or read from a pipe, never from arguments."""

import sys

import typer


def secret_text(what: str) -> str:
    """A secret text from a prompt, or from a pipe."""
    if sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=True, err=True))
    return sys.stdin.read().removesuffix("\n")

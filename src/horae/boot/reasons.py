"""Asks for the reason of a command that changes a deployment past its API. The audit log keeps it."""

import sys
from typing import Annotated, Final

import typer

MAX_REASON_CHARACTERS: Final = 500
Reason = Annotated[
    str | None,
    typer.Option(help="Why, for the audit log. It is asked for on a terminal, and required elsewhere."),
]


def ask_reason(given: str | None) -> str:
    """The given reason, or the answer to a question on a terminal. Without either, the command was not understood."""
    if given is None and sys.stdin.isatty():
        given = str(typer.prompt("reason, for the audit log", err=True))
    reason = (given or "").strip()
    if not reason:
        raise typer.BadParameter("say why with --reason; the audit log keeps it")
    if len(reason) > MAX_REASON_CHARACTERS or not reason.isprintable():
        raise typer.BadParameter(f"a reason is at most {MAX_REASON_CHARACTERS} printable characters in one line")
    return reason

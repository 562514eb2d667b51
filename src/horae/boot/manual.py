"""Generates the page `docs/cli.md` from the commands."""

from collections.abc import Iterator
from enum import Enum
from typing import Any, Final

import typer

from horae.boot.output import MEANING

HEAD: Final = """# Command line

This page is written by `horae manual > docs/cli.md`; a test keeps it current. Commands speak to the API over HTTP with
a key: `horae login` or `horae context add` stores both, `HORAE_URL` and `HORAE_KEY` name them in the environment; see
[the command line over HTTP](command-line.md). Only commands that run, set up or rescue a deployment open PostgreSQL, by
`HORAE_DSN` or `HORAE_CELLS`, or by a settings file: `horae --config FILE …` ([settings](settings.md)). Tables are for
people: every command takes `--json` and answers as the [API](api/index.md) does. `horae --install-completion` teaches
your shell, and completes names from the server.

## Exit codes
| status | meaning |
|---|---|
"""
OMITTED: Final = {"help", "as_json", "install_completion", "show_completion"}


def page(app: typer.Typer) -> str:
    """The whole page as Markdown."""
    codes = "".join(f"| {int(code)} | {text} |\n" for code, text in MEANING.items())
    return HEAD + codes + "".join(_group(typer.main.get_command(app), "horae", 2))


def _group(group: Any, path: str, depth: int) -> Iterator[str]:
    commands = {name: one for name, one in sorted(group.commands.items()) if not one.hidden}
    alone = {name: one for name, one in commands.items() if not hasattr(one, "commands")}
    for name, one in alone.items():
        yield from _command(one, f"{path} {name}", depth)
    for name, one in commands.items():
        if name not in alone:
            if getattr(one, "invoke_without_command", False):
                yield from _command(one, f"{path} {name}", depth)
            else:
                yield f"\n{'#' * depth} {path} {name}\n{one.help or ''}\n"
            yield from _group(one, f"{path} {name}", depth + 1)


def _command(command: Any, path: str, depth: int) -> Iterator[str]:
    params = [one for one in command.params if one.name not in OMITTED and not one.hidden]
    words = [_word(one) for one in params if not _is_option(one)]
    words += [f"{one.opts[0]} …" for one in params if _is_option(one) and one.required]
    options = " [options]" if any(_is_option(one) and not one.required for one in params) else ""
    yield f"\n{'#' * depth} {path}\n{command.help or ''}\n\n```sh\n{' '.join([path, *words])}{options}\n```\n"
    rows = [_row(one) for one in params if one.help or _is_option(one)]
    if rows:
        yield "\n| | |\n|---|---|\n" + "".join(rows)


def _row(param: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts)) if _is_option(param) else ""
    said = str(param.help or "").replace("|", "\\|")
    return f"| {names or f'`{_word(param)}`'} | {said}{_default(param)} |\n"


def _default(param: Any) -> str:
    given = param.default.value if isinstance(param.default, Enum) else param.default
    plain = isinstance(given, str | int | float) and not isinstance(given, bool) and given != "" and not param.required
    return f" Else `{given}`." if plain else ""


def _word(param: Any) -> str:
    name = (param.metavar or param.name.upper().strip("_")).removesuffix("...")
    many = "..." if param.nargs == -1 else ""
    return f"{name}{many}" if param.required else f"[{name}{many}]"


def _is_option(param: Any) -> bool:
    return bool(param.opts and str(param.opts[0]).startswith("-"))

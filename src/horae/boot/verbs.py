"""Groups of commands: every command takes `--json`, and may be an `async def`."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import typer

from horae.boot.output import set_json

Verb = TypeVar("Verb", bound=Callable[..., Any])


class Verbs(typer.Typer):
    """A group of commands. Every command takes `--json`, and may be an `async def`."""

    def alone(self, verb: Verb) -> Verb:
        """Register the command that runs where the group is named without one of its commands."""
        asked = _with_json(verb)

        def run_alone(called: typer.Context, **facts: Any) -> Any:
            return None if called.invoked_subcommand else asked(**facts)

        signature = inspect.signature(asked)
        first = inspect.Parameter("called", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        run_alone.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[first, *signature.parameters.values()]
        )
        run_alone.__annotations__ = {"called": typer.Context, **asked.__annotations__}
        run_alone.__doc__ = verb.__doc__
        self.callback(invoke_without_command=True)(run_alone)
        return verb

    def command(self, name: str | None = None, **facts: Any) -> Callable[[Verb], Verb]:
        """Register a command, and add `--json` to it."""
        register = super().command(name, **facts)

        def take(verb: Verb) -> Verb:
            register(_with_json(verb))
            return verb

        return take


def _run(work: Callable[[], Awaitable[Any]]) -> Any:
    from horae.boot.refusals import run  # noqa: PLC0415 - it loads the event loop, which `horae version` does without

    return run(work)


def _with_json(verb: Verb) -> Verb:
    @functools.wraps(verb)
    def asked(*args: Any, as_json: bool = False, **facts: Any) -> Any:
        set_json(wanted=as_json)
        if inspect.iscoroutinefunction(verb):
            return _run(functools.partial(verb, *args, **facts))
        return verb(*args, **facts)

    flag = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
    signature = inspect.signature(verb, eval_str=True)
    extra = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=flag)
    asked.__signature__ = signature.replace(parameters=[*signature.parameters.values(), extra])  # type: ignore[attr-defined]
    asked.__annotations__ = {**inspect.get_annotations(verb, eval_str=True), "as_json": flag}
    return asked  # type: ignore[return-value]

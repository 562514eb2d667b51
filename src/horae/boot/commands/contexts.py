"""`horae context …` and `horae login`: which API the commands speak to, and with which key."""

import webbrowser
from typing import Annotated
from urllib.parse import urlsplit

import typer

from horae.boot import contexts
from horae.boot.completion import complete_contexts
from horae.boot.contexts import ENVIRONMENT, ApiContext, ContextList
from horae.boot.output import err, say
from horae.boot.prompts import secret_text
from horae.boot.remote import speak
from horae.boot.tables import answer_rows
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae_client.asked import identity
from horae_client.models import Caller

app = Verbs(no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="A name for the API and the key.", autocompletion=complete_contexts)]
Url = Annotated[str, typer.Argument(metavar="URL", help="The address of the API, as https://horae.example.com.")]


@app.command()
async def add(
    name: Name,
    url: Url,
    check: Annotated[bool, typer.Option(help="Ask the API who the key belongs to before it is stored.")] = True,
) -> None:
    """Store an address and a key under a name, and use them from now on. The key is prompted for, or piped in."""
    one = contexts.named(name, url, secret_text("key"))
    _store(one, await _caller(one) if check else None)


async def login(
    url: Annotated[str | None, typer.Argument(help="The address of the API; that of the context in use.")] = None,
    name: Annotated[str | None, typer.Option(help="A name for it; the host's name where omitted.")] = None,
    browser: Annotated[
        bool, typer.Option(help="Open the console in a browser where people log in with single sign-on.")
    ] = True,
) -> None:
    """Log in to an API: check a key with it, and use both from now on. The key is prompted for, or piped in.

    Where people log in with single sign-on, the console is opened: log in there, create a key, and paste it here.
    """
    place = url or contexts.chosen().url
    one = contexts.named(name or _name_of(place), place, "unknown")
    async with speak(one) as api:
        options = (await api.ask(identity.login_options())).value
    if options.oidc and browser:
        err.print(f"log in at {one.url}/console/ and create a key there; then paste it here", highlight=False)
        webbrowser.open(f"{one.url}/console/")
    one = contexts.named(one.name, one.url, secret_text("key"))
    _store(one, await _caller(one))


@app.command()
async def use(name: Name) -> None:
    """Use another context from now on."""
    contexts.save(contexts.load().used(name))
    say({"name": name}, f"commands use {name} from now on")


@app.command("list")
async def list_() -> None:
    """List all contexts; their keys are not shown."""
    stored = contexts.load()
    rows = [("*" if name == stored.current else "", name, one.url) for name, one in sorted(stored.contexts.items())]
    facts = [_facts(stored, one) for _, one in sorted(stored.contexts.items())]
    answer_rows(facts, ("", "name", "url"), rows, empty="there are no contexts: `horae login URL` makes one")


@app.command()
async def show() -> None:
    """Show which API the commands speak to now, and who the API says the key belongs to."""
    one = contexts.chosen()
    caller = await _caller(one)
    from_ = one.name if one.name == ENVIRONMENT else f"context {one.name}"
    facts = {"name": one.name, "url": one.url, "tenant": caller.tenant, "principal": caller.principal}
    say(facts | {"roles": caller.roles}, f"{one.url} ({from_}): {_who(caller)}")


@app.command()
async def remove(name: Name) -> None:
    """Remove a context and its key from this machine. The key stays valid: `horae key revoke` ends it."""
    contexts.save(contexts.load().removed(name))
    say({"name": name}, f"context {name} is gone; its key stays valid until `horae key revoke`")


def _store(one: ApiContext, caller: Caller | None) -> None:
    file = contexts.save(contexts.load().added(one))
    who = "" if caller is None else f" as {_who(caller)}"
    say({"name": one.name, "url": one.url, "file": str(file)}, f"commands use {one.url} from now on{who}")


async def _caller(one: ApiContext) -> Caller:
    """Who the API says a key belongs to."""
    async with speak(one) as api:
        return (await api.ask(identity.caller())).value


def _who(caller: Caller) -> str:
    return f"{caller.name} of tenant {caller.tenant}, {', '.join(caller.roles) or 'no role'}"


def _facts(stored: ContextList, one: ApiContext) -> dict[str, object]:
    return {"name": one.name, "url": one.url, "current": one.name == stored.current}


def _name_of(url: str) -> str:
    host = urlsplit(url).hostname
    if not host:
        raise Invalid(f"{url!r} is no address of an API; write https://horae.example.com")
    return host.replace(".", "-").replace(":", "-")

"""`horae key bootstrap`: makes the first key in PostgreSQL, because there is no key yet that the API would accept."""

from typing import Annotated, Final

import typer

from horae.boot.output import say
from horae.boot.reasons import Reason, ask_reason
from horae.security.roles import Role

FIRST: Final = "bootstrap"
"""The name of the first key."""


async def bootstrap(
    name: Annotated[str, typer.Option(help="The name of the key; another one where the first key was lost.")] = FIRST,
    reason: Reason = None,
) -> None:
    """Create the first key, an admin of the platform. This works once; create other keys with this one.

    It opens PostgreSQL, so it also helps where no key is left: with another `--name` it makes another key.
    """
    from horae.api.models.identity import CreatedApiKey  # noqa: PLC0415 - other commands of keys do without the store
    from horae.boot.session import platform_caller  # noqa: PLC0415
    from horae.domain.errors import Conflict  # noqa: PLC0415
    from horae.service.context import Context  # noqa: PLC0415
    from horae.service.identity import api_keys  # noqa: PLC0415
    from horae.service.tenants import tenants  # noqa: PLC0415

    why = ask_reason(reason)
    async with platform_caller() as platform:
        ctx = Context.of(platform.store, await tenants.find_platform(platform), platform.actor)
        try:
            made = await api_keys.create(ctx, name, [Role.ADMIN], reason=why)
        except Conflict as error:
            advice = "`horae key bootstrap --name NAME` makes another, `horae key revoke` ends this one"
            raise Conflict(f"the first key was made before, and its text is shown only once: {advice}") from error
    title = f"key {made.key.name} ({made.key.principal}), {', '.join(made.roles)}; shown once:"
    say(CreatedApiKey.of_created(made), f"{title}\n{made.text}")

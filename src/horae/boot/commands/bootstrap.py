"""`horae key bootstrap`: makes the first key in PostgreSQL, because there is no key yet that the API would accept."""

from typing import Annotated, Final

import typer

from horae.boot.output import say
from horae.domain.tenants.tenants import SYSTEM
from horae.security.roles import Role

FIRST: Final = "bootstrap"
"""The name of the first key."""


async def bootstrap(
    name: Annotated[str, typer.Option(help="The name of the key; another one where the first key was lost.")] = FIRST,
) -> None:
    """Create the first key, an admin of the platform. This works once; create other keys with this one.

    It opens PostgreSQL, so it also helps where no key is left: with another `--name` it makes another key.
    """
    from horae.api.models.identity import CreatedApiKey  # noqa: PLC0415 - other commands of keys do without the store
    from horae.boot.encryption import open_store  # noqa: PLC0415
    from horae.boot.session import caller, load  # noqa: PLC0415
    from horae.domain.errors import Conflict, NotFound  # noqa: PLC0415
    from horae.service.context import PlatformContext  # noqa: PLC0415
    from horae.service.identity import api_keys  # noqa: PLC0415
    from horae.service.tenants import tenants  # noqa: PLC0415

    settings = load()
    async with open_store(settings, settings.all_cells()) as store:
        try:
            await tenants.find(store, SYSTEM)
        except NotFound:
            await tenants.create(PlatformContext(store, "bootstrap"), SYSTEM, width=1)
    async with caller(SYSTEM) as ctx:
        try:
            made = await api_keys.create(ctx, name, [Role.ADMIN])
        except Conflict as error:
            advice = "`horae key bootstrap --name NAME` makes another, `horae key revoke` ends this one"
            raise Conflict(f"the first key was made before, and its text is shown only once: {advice}") from error
    title = f"key {made.key.name} ({made.key.principal}), {', '.join(made.roles)}; shown once:"
    say(CreatedApiKey.of_created(made), f"{title}\n{made.text}")

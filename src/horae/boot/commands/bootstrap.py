"""`horae key bootstrap`: makes the first key in PostgreSQL, because there is no key yet that the API would accept."""

from horae.boot.output import say
from horae.domain.tenants.tenants import SYSTEM
from horae.security.roles import Role


async def bootstrap() -> None:
    """Create the first key, an admin of the platform. This works once; create other keys with this one."""
    from horae.api.models.identity import CreatedApiKey  # noqa: PLC0415 - other commands of keys do without the store
    from horae.boot.encryption import open_store  # noqa: PLC0415
    from horae.boot.session import caller, load  # noqa: PLC0415
    from horae.domain.errors import NotFound  # noqa: PLC0415
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
        made = await api_keys.create(ctx, "bootstrap", [Role.ADMIN])
    title = f"key {made.key.name} ({made.key.principal}), {', '.join(made.roles)}; shown once:"
    say(CreatedApiKey.of_created(made), f"{title}\n{made.text}")

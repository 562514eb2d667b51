"""What the role of a connection may do, compared with what the roles of a deployment may do."""

from horae.domain.health.rights import RoleRights
from horae.store.statements import sql
from horae.store.tx import Tx


async def compare(tx: Tx, role: str) -> RoleRights:
    """The role of this connection beside a role of ours, by the grants of the catalog."""
    return RoleRights(await role_name(tx), role, await lacking(tx, role), await unowned(tx))


async def lacking(tx: Tx, role: str) -> tuple[str, ...]:
    """What the role of this connection lacks of the rights of `role`."""
    return tuple(row["lacking"] for row in await tx.rows(sql("health/rights/lacking"), role))


async def unowned(tx: Tx) -> dict[str, int]:
    """How many tables other roles own, by owner."""
    return {row["owner"]: row["tables"] for row in await tx.rows(sql("health/rights/unowned"))}


async def role_name(tx: Tx) -> str:
    """The role of this connection."""
    name = await tx.value(sql("health/rights/role_name"))
    assert isinstance(name, str)
    return name

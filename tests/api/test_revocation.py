"""Keys at rest and keys that are taken back, with real processes."""

import asyncio
import re
import subprocess
from time import monotonic

from horae.security import credentials
from horae.security.roles import Role
from tests.api.api_servers import open_doors
from tests.api.wire import Wire
from tests.cluster import BIN
from tests.steps import query
from tests.store.walls import as_role

PROMISED = 5.0


async def test_a_key_revoked_in_one_process_is_refused_in_four_within_five_seconds(key, cells, tmp_path):
    async with open_doors(4, tmp_path, as_role(cells, "horae_api")) as doors:
        admin = Wire(doors[0].port, await key(Role.ADMIN))
        made = (await admin.ask("POST", "/api/v1/keys", {"name": "viewer", "roles": ["viewer"]})).body
        wires = [Wire(door.port, made["key"]) for door in doors]
        assert {(await wire.ask("GET", "/api/v1/jobs")).status for wire in wires} == {200}
        asking = [asyncio.create_task(_until_refused(wire)) for wire in wires]
        began = monotonic()
        assert (await admin.ask("DELETE", f"/api/v1/keys/{made['id']}")).body["revoked_at"]
        took = [at - began for at in await asyncio.gather(*asking)]
        assert max(took) < PROMISED, took
        for wire in wires:
            assert {(await wire.ask("GET", "/api/v1/jobs")).code for _ in range(5)} == {"SCH_401_UNAUTHENTICATED"}
        for wire in (*wires, admin):
            wire.hang_up()


async def _until_refused(wire):
    """Asks all the time, so that the process remembers the key as long as it may."""
    while (answer := await wire.ask("GET", "/api/v1/jobs")).status == 200:
        await asyncio.sleep(0.05)
    assert answer.code == "SCH_401_UNAUTHENTICATED"
    return monotonic()


async def test_a_dump_of_every_cell_holds_no_usable_key(key, admin, anyone, platform, cells, store, tenant):
    made = [(await admin.post("/keys", json={"name": f"k{n}", "roles": ["admin"]})).json() for n in range(5)]
    made.append((await platform.post("/tenants/acme/keys", json={"name": "first", "roles": ["admin"]})).json())
    texts = [one["key"] for one in made] + [await key(role, name=f"direct-{role}") for role in Role]
    await admin.post("/jobs", json={"name": "j"}, headers={"Idempotency-Key": "k"})
    dump = "\n".join(_dumped(cell.dsn) for cell in cells)
    for text in texts:
        secret = credentials.read(text).secret
        assert secret not in dump
        assert credentials.read(text).digest().hex() in dump
    assert not re.search(r"horae_[0-9a-z]+_[0-9a-z]{52}_[0-9a-f]{8}", dump)
    for row in await query(store, "select id, digest from api_key limit 10"):
        for stolen in (row["digest"].hex()[:52], row["digest"].hex()[-52:]):
            headers = {"Authorization": f"Bearer {credentials.Credential(row['id'], stolen).text()}"}
            assert (await anyone.get("/api/v1/jobs", headers=headers)).status_code in {401, 429}


def _dumped(dsn):
    return subprocess.run(
        [BIN / "pg_dump", "--enable-row-security", dsn], check=True, capture_output=True, text=True, timeout=60
    ).stdout

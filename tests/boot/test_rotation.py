"""Every key is rotated while calls go on, over real processes: no request fails, no call, no signature."""

import asyncio
from base64 import b64encode
from itertools import count

import pytest

from horae.security import keyrings
from horae.service.encryption import data_keys
from horae.upkeep.key_rotation import Rewrapper
from tests.boot.fleet import a_fleet, until
from tests.boot.hook import hooked
from tests.keyring import copied
from tests.steps import query

OLD, NEW = ("whsec_" + b64encode(bytes([n]) * 32).decode() for n in (1, 2))
SEEN = 40  # calls between two rotations
KNOWN_WITHIN = 5.0
"""Seconds within which a node uses the new value of a secret."""


async def newest(store):
    """Whether anything was sealed with the second key yet."""
    return await query(store, "select from instance_history where payload ->> '$sealed' like '1.2.%' limit 1")


@pytest.mark.timeout(300)
async def test_keys_of_payloads_and_of_signatures_are_rotated_under_load_without_one_failure(
    ctx, store, cells, tmp_path
):
    ring = copied(tmp_path / "ring.json", store)
    with hooked(OLD) as hook:
        async with a_fleet(ctx, cells, tmp_path, ring) as fleet:
            admin, failed, asked = fleet.admin, [], count()
            put = await admin.put("/secrets/hook", json={"value": OLD})
            assert put.status_code == 200, put.text
            target = {"kind": "http", "url": hook.url, "signing": "hook"}
            made = await admin.post("/jobs", json={"name": "HOOK", "trigger": {"kind": "keyed"}, "target": target})
            assert made.status_code == 201, made.text
            stop = asyncio.Event()

            async def load():
                while not stop.is_set():
                    tasks = [{"key": str(n), "payload": {"n": n}} for _, n in zip(range(5), asked, strict=False)]
                    answer = await admin.put("/tasks/HOOK", json={"tasks": tasks})
                    if answer.status_code != 200 or any("problem" in one for one in answer.json()["items"]):
                        failed.append(answer.text)
                    await asyncio.sleep(0.05)

            async def more():
                """Calls go on: so many more have arrived."""
                enough = len(hook.payloads) + SEEN
                await until("calls go on", lambda: len(hook.payloads) >= enough or failed or hook.refused)
                assert (failed, hook.refused) == ([], [])

            loading = [asyncio.create_task(load()) for _ in range(2)]
            await more()
            keyrings.rotate(ring, "second")
            assert await data_keys.rotate(ctx) == 2
            await until("payloads are sealed with the new key", lambda: newest(store))
            await more()
            assert await Rewrapper(store, store.cipher).rewrap_all() >= 1
            wrapped = await query(store, "select wrapped from data_key")
            assert {row["wrapped"].split(":")[1] for row in wrapped if "second" in row["wrapped"]} == {"second"}
            await admin.put("/secrets/hook", json={"value": f"{OLD} {NEW}"})
            await until("calls bear both signatures", lambda: hook.signatures == 2, KNOWN_WITHIN)
            await more()
            hook.secret = NEW
            await more()
            await admin.put("/secrets/hook", json={"value": NEW})
            await until("calls bear the new signature only", lambda: hook.signatures == 1, KNOWN_WITHIN)
            await more()
            stop.set()
            await asyncio.gather(*loading)
            sent = next(asked)
            await until("all have arrived", lambda: len(hook.payloads) >= sent or hook.refused)
            assert sorted(call["payload"]["n"] for call in hook.payloads.values()) == list(range(sent))
            assert (failed, hook.refused) == ([], [])
            assert all(key == id_ for key, id_ in hook.ids)
            ended = await query(store, "select state, payload from instance_history")
            assert {row["payload"]["$sealed"][:4] for row in ended} == {"1.1.", "1.2."}
            assert {row["state"] for row in ended} == {"SUCCESS"}
            assert await query(store, "select * from dead_letter") == []

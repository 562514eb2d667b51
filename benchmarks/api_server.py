"""The doors to measure: `horae api` in one process of its own, and what has to be there before."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.error import URLError

from benchmarks import psql
from benchmarks.caller import JOB, QUEUE, TYPE
from benchmarks.nodes import Process, keyring
from benchmarks.server import FOLDER, Server, free_port
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import KeyedTrigger, ManualTrigger
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.tenants.tenants import Tenant
from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.jobs import jobs
from horae.service.tenants import tenants
from horae.store.store import Store

ROLE = "horae_api"
SECRET = "bench-4f7c1d9a52e84b60937ac8e1f2d5b6a3"
PAST = 5_000


async def _prepare(cell: CellSettings) -> tuple[Tenant, str]:
    async with Store.of([cell]) as store:
        tenant = await tenants.create(PlatformContext(store, "bench"), "bench", width=4096)
        ctx = Context.of(store, tenant, "bench")
        target = HttpTarget("http://127.0.0.1:9/")
        await jobs.create(ctx, TYPE, Definition(trigger=KeyedTrigger(), target=target))
        await jobs.create(ctx, QUEUE, Definition(trigger=ManualTrigger(), target=QueueTarget(QUEUE)))
        await jobs.create(ctx, JOB, Definition(trigger=ManualTrigger(), target=target))
        return tenant, (await api_keys.create(ctx, "bench", [Role.ADMIN, Role.WORKER])).text


class Prepared:
    """A tenant with a key, a type, a queue, and a job with a past."""

    def __init__(self, server: Server, database: str) -> None:
        self.server, self.database = server, database
        self.tenant, self.key = asyncio.run(_prepare(CellSettings(name=database, dsn=server.dsn(database))))
        psql.run(server, database, self._past(), "vacuum (analyze)")

    def job(self, name: str) -> tuple[int, str]:
        """A job's shard and id."""
        found = psql.value(self.server, self.database, f"select shard_id, id from job where name = '{name}'")
        shard, _, id_ = found.partition("|")
        return int(shard), id_

    def wait_for(self, number: int) -> None:
        """So many instances wait in the queue, over all shards."""
        _, id_ = self.job(QUEUE)
        waiting = int(
            psql.value(self.server, self.database, "select count(*) from instance_live where queue = 'bench'")
        )
        psql.run(
            self.server,
            self.database,
            f"""insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at,
                                           changed_at, priority, lane, slot_ms, queue, state, payload)
                select n % 4096, {id_of_shard("n % 4096")}, '{self.tenant.id}', '{id_}', 1, gen_random_uuid()::text,
                       now(), now() + n * interval '1 us', now(), 1, 0, 60000, '{QUEUE}', 'INIT', '{{"n": 1}}'
                from generate_series(1, {max(0, number - waiting)}) n""",
            "vacuum instance_live",
        )

    def _past(self) -> str:
        shard, id_ = self.job(JOB)
        return f"""
            insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id,
                                          priority, lane, id, tenant_id, job_id, state, idem_key, payload, attempts)
            select at, at, at, 1, 1, 0, {shard}, 1, 0, {id_of_shard(str(shard))}, '{self.tenant.id}', '{id_}',
                   'SUCCESS', 'past-' || n, '{{"n": 1}}', '[{{"attempt": 1, "status": 200, "duration_ms": 3}}]'
            from (select n, date_trunc('day', now()) + n * interval '1 ms' as at
                  from generate_series(1, {PAST}) n) past"""


def id_of_shard(shard: str) -> str:
    """A random id that names its shard, in SQL."""
    return f"overlay(gen_random_uuid()::text placing '7' || lpad(to_hex({shard}), 3, '0') from 15 for 4)::uuid"


@contextmanager
def doors(server: Server, database: str) -> Iterator[tuple[int, Process]]:
    """One API process over a database, behind the wall of its role; its port and what it costs."""
    env = os.environ | {
        "HORAE_API_CELLS": json.dumps([{"name": database, "dsn": server.dsn(database, ROLE)}]),
        "HORAE_ENVIRONMENT": "test",
        "HORAE_API_MONITORING_PORT": "0",
        "HORAE_LOG_LEVEL": "WARNING",
        "HORAE_API_SECRET": SECRET,
        "HORAE_KEYRING": str(keyring()),
        "HORAE_API_RATE": "1000000",
        "HORAE_API_BURST": "1000000",
        "HORAE_API_CONCURRENCY": "1000",
    }
    port = free_port()
    with _process(["horae", "api", "--port", str(port)], env, port) as process:
        yield port, process


@contextmanager
def constant(size: int) -> Iterator[tuple[int, Process]]:
    """The bare framework, answering so many bytes."""
    port = free_port()
    with _process(["benchmarks.bare.constant", str(port), str(size)], dict(os.environ), port) as process:
        yield port, process


@contextmanager
def _process(words: Sequence[str], env: dict[str, str], port: int) -> Iterator[Process]:
    with (FOLDER / "doors.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", *words], env=env, stdout=log, stderr=log)
    try:
        _await_answer(process, port)
        yield Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_answer(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"nobody answers; see {FOLDER / 'doors.log'}") from error
            time.sleep(0.1)

"""Two tenants with one of everything: what the tests of the whole document ask about."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import httpx2
import msgspec
from fastapi import FastAPI

from horae.domain.alerts.alerts import RuleFault
from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import AlertRule, NamedRule
from horae.domain.errors import Invalid
from horae.domain.graphs.runs import StepState
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.incidents.incidents import IncidentGrade
from horae.domain.tenants.tenants import Tenant
from horae.domain.workers.queue_workers import PollOrigin
from horae.runtime.randomness import new_id, new_token
from horae.security.roles import Role
from horae.security.signing_keys import SigningKey
from horae.service.certificates import certificates
from horae.service.context import Context, PlatformContext
from horae.service.events import intake_batches, intakes
from horae.service.events.intake_batches import IntakeMessage
from horae.service.identity import api_keys, sessions
from horae.service.identity.sessions import SessionRequest, Terms
from horae.service.instances import instances
from horae.service.tenants import tenants
from horae.service.workers.poll_records import PollRecorder, WorkerPoll
from horae.store.alerts import alerts
from horae.store.graphs import children as graph_children
from horae.store.graphs import runs as graph_runs
from horae.store.graphs import steps as graph_steps
from horae.store.graphs.children import MappedStart
from horae.store.graphs.runs import StartingRun
from horae.store.graphs.steps import NewStepRow, StepChange
from horae.store.incidents import incidents
from horae.store.moves import moves
from horae.store.nodes import leases
from horae.store.protocol import StoreProtocol
from horae.store.store import Store
from horae.upkeep.alert_watch import alert_row
from horae.upkeep.dead_letter_triage import CauseSorter
from tests.holding import write_hold

TTL = timedelta(seconds=600)
TOPIC = {"kind": "topic", "broker": "main", "topic": "changes"}
HOOK = {"kind": "webhook", "url": "https://crm.example.com/events", "signing": "crm"}
AT = "2035-01-01T08:00:00Z"
QUIET = {"starts_at": "2035-01-01T08:00:00Z", "ends_at": "2035-01-01T09:00:00Z"}


class World(NamedTuple):
    """One of everything that a tenant can have. `secret` is in its payloads, labels and messages, and nowhere else."""

    tenant: Tenant
    secret: str
    job: str
    paused: str
    http: str
    queue: str
    worker: str
    type: str
    calendar: str
    named: str
    pushed: str
    asked: str
    subscription: str
    told: str
    alert_channel: str
    alert_rule: str
    silence: str
    alert: str
    alert_test: str
    intake: str
    parked: str
    poison: str
    rolling: str
    live: str
    waiting: str
    dead: str
    returned: str
    cause: str
    paced_replay: str
    held: dict[str, Any]
    backfill: str
    paused_backfill: str
    backfill_group: str
    graph: str
    graph_run: str
    key: str
    text: str
    session: str
    victim: str
    paused_victim: str
    certified: str
    moving_shard: str
    incident: str


def asking(app: FastAPI, text: str | None) -> httpx2.AsyncClient:
    """A client with this credential, or none."""
    headers = {} if text is None else {"Authorization": f"Bearer {text}"}
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://horae.test", headers=headers)


async def own_shards(store: Store) -> None:
    """A living node holds every shard."""
    who = new_token()
    for cell in store.cells:
        async with cell.tx() as tx:
            await leases.heartbeat(tx, who, "n", TTL)
            await leases.take(tx, who, store.shards_of(cell))


async def a_world(app: FastAPI, store: Store, name: str, *, width: int = 1) -> World:
    """A tenant of this name, with one of everything."""
    tenant = await tenants.create(PlatformContext(store, "test"), name, width=width)
    ctx = Context.of(store, tenant, "test")
    text = (await api_keys.create(ctx, "founder", [Role.ADMIN, Role.WORKER])).text
    async with asking(app, text) as client:

        async def ask(method: str, path: str, body: object = None, **headers: str) -> Any:
            answer = await client.request(method, f"/api/v1{path}", json=body, headers=headers)
            assert answer.is_success, (method, path, answer.text)
            return answer.json()

        return await _furnished(ctx, ask, text)


async def _furnished(ctx: Context, ask: Callable[..., Any], text: str) -> World:
    name, secret = ctx.tenant.name, f"only-for-{ctx.tenant.name}"
    marked = {"payload": {"secret": secret}, "labels": {"secret": secret}}
    days = {"first": "2026-01-01", "last": "2036-12-31", "weekdays": [1, 2, 3, 4, 5]}
    for calendar in (f"days-{name}", f"others-{name}"):
        await ask("PUT", f"/calendars/{calendar}", days)
    for named in (f"token-{name}", f"other-{name}"):
        await ask("PUT", f"/secrets/{named}", {"value": secret})
    for subscribed in (f"crm-{name}", f"told-{name}"):
        await ask("PUT", f"/subscriptions/{subscribed}", {"sink": HOOK, "labels": {"secret": secret}})
    jobs = {
        "coupon": {"cron": "0 */5 * * * ?"},
        "paused": {"cron": "0 0 * * * ?"},
        "http": {"target": {"kind": "http", "url": "http://127.0.0.1:9/"}},
        "type": {"trigger": {"kind": "keyed"}},
    }
    ids = {
        kind: (await ask("POST", "/jobs", {"name": f"{kind}-{name}"} | facts | marked))["id"]
        for kind, facts in jobs.items()
    }
    await ask("PUT", f"/jobs/{ids['coupon']}", {"version": 1, "cron": "0 */5 * * * ?", "priority": "low"} | marked)
    await ask("POST", f"/jobs/{ids['paused']}/pause")
    await ask("PUT", f"/tasks/type-{name}/article-42", {"at": AT, "payload": {"secret": secret}})
    await _sources(ask, name, secret)
    runs = await _runs(ctx, ask, f"coupon-{name}", secret)
    for cell in ctx.store.cells:
        await write_hold(cell, ctx.tenant.id, f"https://{secret}.example.com/{cell.name}", ttl=TTL)
    now = ctx.store.cells[0].clock.now()
    recorder = PollRecorder(ctx.store)
    for number in "12":
        asked = WorkerPoll(ctx.tenant.id, f"{number}-{secret}", f"w{number}-{secret}", 1, PollOrigin(secret))
        recorder.note(asked, now)
    await recorder.once()
    begun = []
    for hours in (3, 2, 1):
        past = {
            "since": (now - timedelta(hours=hours)).isoformat(),
            "until": (now - timedelta(hours=hours - 1)).isoformat(),
        }
        if hours == 3:
            chosen = {"prefix": f"coupon-{name}"}
            group = await ask("POST", "/backfill-groups", past | chosen, **{"Idempotency-Key": str(hours)})
            continue
        begun.append(await ask("POST", f"/jobs/{ids['coupon']}/backfill", past, **{"Idempotency-Key": str(hours)}))
    await ask("POST", f"/backfills/{begun[1]['id']}/pause")
    spare = await api_keys.create(ctx, "spare", [Role.VIEWER])
    wanted = SessionRequest(ctx.tenant, f"user:{name}", "Somebody")
    opened = [await sessions.open_for(ctx, wanted, Terms()) for _ in range(2)]
    for victim in (f"victim-{name}", f"asleep-{name}"):
        await tenants.create(ctx, victim, width=1)
    return World(
        tenant=ctx.tenant,
        secret=secret,
        job=ids["coupon"],
        paused=ids["paused"],
        http=ids["http"],
        queue=f"coupon-{name}",
        worker=f"w1-{secret}",
        type=f"type-{name}",
        calendar=f"days-{name}",
        named=f"token-{name}",
        pushed=f"pushed-{name}",
        asked=f"asked-{name}",
        subscription=f"crm-{name}",
        told=f"told-{name}",
        **await _alerts(ctx, ask, secret),
        intake=f"in-{name}",
        **await _messages(ctx, ask, secret),
        rolling=f"rolling-{name}",
        **runs,
        backfill=begun[0]["id"],
        paused_backfill=begun[1]["id"],
        backfill_group=group["id"],
        **await _a_graph(ctx, ask, secret),
        key=spare.key.principal,
        text=text,
        session=opened[0].session.public_id,
        victim=f"victim-{name}",
        paused_victim=f"asleep-{name}",
        certified=await _a_certified_day(ctx),
        moving_shard=str(await _a_moving_shard(ctx)),
        incident=await _an_incident(ctx),
    )


async def _a_graph(ctx: Context, ask: Callable[..., Any], secret: str) -> dict[str, str]:
    """A graph with two open runs: a mapped step that has succeeded, two that wait, and before them one for a worker."""
    name = f"graph-{ctx.tenant.name}"
    done, first, *behind = (f"{one}-{ctx.tenant.name}" for one in ("done", "first", "second", "third"))
    steps = [{"name": done}, {"name": first}, *({"name": one, "needs": [first]} for one in behind)]
    body = {"name": name, "labels": {"secret": secret}, "steps": [{"payload": secret} | step for step in steps]}
    made = await ask("POST", "/jobs", body)
    for key in "12":
        run = (await instances.trigger(ctx, name, key, even_if_down=True)).instance_id
        shard = shard_in(run)
        async with ctx.store.tx(shard) as tx:
            await graph_runs.start(
                tx, [StartingRun(shard, run, tx.now + timedelta(days=1), undecided=True)], new_token()
            )
            named = enumerate([done, first, *behind])
            await graph_steps.insert(tx, [NewStepRow(shard, run, ctx.tenant.id, place, one) for place, one in named])
            await graph_children.begin(tx, [MappedStart(shard, run, 0, children=2)])
            await graph_steps.change(tx, [StepChange(shard, run, 0, StepState.SUCCESS, 0)])
    return {"graph": made["id"], "graph_run": public(Prefix.INSTANCE, run)}


async def _a_certified_day(ctx: Context) -> str:
    """A day of the past with a certificate; another one for each of two tenants."""
    back = timedelta(days=1 + sum(ctx.tenant.name.encode()) % 7)
    day = (ctx.now() - back).date()
    await certificates.make(ctx, SigningKey(bytes(32)), day)
    return str(day)


async def _a_moving_shard(ctx: Context) -> int:
    """A shard of the tenant whose move has been requested, and which no node moves."""
    shard = shard_in(ctx.tenant.id)
    here = ctx.store.cell(shard)
    [other, *_] = [cell.name for cell in ctx.store.cells if cell is not here] or ["elsewhere"]
    async with ctx.store.tx(shard) as tx:
        await moves.request(tx, shard, new_id(shard, tx.now), other, ctx.actor)
    return shard


END_INCIDENTS = "update incident set ended_at = now(), step = 'ENDED', result = 'STOPPED' where step <> 'ENDED'"


async def end_incidents(store: StoreProtocol) -> None:
    """No incident is open: there is one at a time."""
    for cell in store.cells:
        async with cell.tx() as tx:
            await tx.run(END_INCIDENTS)


async def _an_incident(ctx: Context) -> str:
    """An open incident, on which no node works. It is in the last cell, as if that had answered first."""
    await end_incidents(ctx.store)
    cell = ctx.store.cells[-1]
    async with cell.tx() as tx:
        id_ = new_id(min(ctx.store.shards_of(cell)), tx.now)
        assert await incidents.start(tx, id_, IncidentGrade.P2, "late", ctx.actor, tx.now)
    return public(Prefix.INCIDENT, id_)


async def _alerts(ctx: Context, ask: Callable[..., Any], secret: str) -> dict[str, str]:
    """Two open alerts, with what it takes to be told."""
    name, shard = ctx.tenant.name, shard_in(ctx.tenant.id)
    hook = {"kind": "slack", "url_secret": f"token-{name}"}
    for one in (name, f"other-{name}"):
        await ask("PUT", f"/alert-channels/oncall-{one}", {"channel": hook})
        await ask("PUT", f"/alert-rules/rule-{one}", {"kind": "dead_letter", "labels": {"secret": secret}})
        await ask("PUT", f"/silences/silence-{one}", {**QUIET, "comment": secret})
        found = RuleFault(ctx.tenant.id, NamedRule(one, AlertRule(kind=AlertKind.DEAD_LETTER)), secret, secret)
        async with ctx.store.tx(shard) as tx:
            id_ = new_id(shard, tx.now)
            await alerts.record(tx, [alert_row(found, id_)])
    return {
        "alert_channel": f"oncall-{name}",
        "alert_rule": f"rule-{name}",
        "silence": f"silence-{name}",
        "alert": public(Prefix.ALERT, id_),
        "alert_test": (await ask("POST", f"/alert-channels/oncall-{name}/test"))["id"],
    }


async def _sources(ask: Callable[..., Any], name: str, secret: str) -> None:
    """Two types that are listed elsewhere: one is pushed, in two rounds with a repair each, one is asked for."""
    for kind in ("pushed", "asked"):
        await ask("POST", "/jobs", {"name": f"{kind}-{name}", "trigger": {"kind": "keyed"}})
    await ask("PUT", f"/sources/pushed-{name}", {"origin": {"kind": "push"}})
    url = {"kind": "http", "url": f"https://{secret}.example.com/pending"}
    await ask("PUT", f"/sources/asked-{name}", {"origin": url})
    every_minute = {"kind": "rolling", "window": 600, "every": 60}
    await ask("POST", "/jobs", {"name": f"rolling-{name}", "trigger": every_minute, "labels": {"secret": secret}})
    await ask("PUT", f"/jobs/rolling-{name}/subjects", {"keys": [f"1-{secret}", f"2-{secret}"]})
    for number in "12":
        page = {"round": number, "items": [{"key": f"{number}-{secret}", "at": AT}], "last": True}
        await ask("POST", f"/sources/pushed-{name}/pages", page)


async def _messages(ctx: Context, ask: Callable[..., Any], secret: str) -> dict[str, Any]:
    """Two intakes, and two messages that wait for a person: one that can be done by now, and one that never can."""
    name = ctx.tenant.name
    for intake in (f"in-{name}", f"read-{name}"):
        await ask("PUT", f"/intakes/{intake}", {"source": TOPIC})
    said = {"type": f"type-{name}", "key": "told", "version": 1, "payload": {"secret": secret}}
    refused = [
        (IntakeMessage(msgspec.json.encode(said), "t/0"), Invalid("not then")),
        (IntakeMessage(secret.encode(), "t/1"), Invalid("no")),
    ]
    await intake_batches.park(ctx, await intakes.find(ctx, f"read-{name}"), refused)
    found = {one["place"]: one["id"] for one in (await ask("GET", "/parked"))["items"]}
    return {"parked": found["t/0"], "poison": found["t/1"]}


async def _runs(ctx: Context, ask: Callable[..., Any], job: str, secret: str) -> dict[str, Any]:
    """Instances in every stage: two dead, one done, one that waits for its retry, one in a worker's hands,
    one unclaimed.
    """
    for n in range(5):
        await instances.trigger(ctx, job, str(n), payload={"secret": secret}, even_if_down=True)
    polled = (await ask("POST", "/workers/poll", {"queue": job, "worker_id": "w", "limit": 5}))["items"]
    items = [{name: one[name] for name in ("instance_id", "attempt", "token")} for one in polled]
    dead, buried, waiting, returned, held = items
    await ask("POST", "/workers/logs", {"items": [returned | {"lines": [{"at": AT, "text": secret}] * 2}]})
    await ask("POST", "/workers/finish", {"items": [returned | {"result": {"secret": secret}}]})
    failures = [
        one | {"message": said, "retryable": False} for one, said in ((dead, secret), (buried, f"{secret} was refused"))
    ]
    failures.append(waiting | {"message": secret, "retry_after": 3600})
    await ask("POST", "/workers/fail", {"items": failures})
    await CauseSorter(ctx.store).once()
    causes = (await ask("GET", "/failure-causes"))["items"]
    for _ in range(2):
        replay = await ask("POST", "/paced-replays", {"tag": secret})
    live = await instances.trigger(ctx, job, "live", payload={"secret": secret}, even_if_down=True)
    return {
        "dead": dead["instance_id"],
        "returned": returned["instance_id"],
        "cause": causes[0]["cause"],
        "paced_replay": replay["id"],
        "waiting": waiting["instance_id"],
        "held": held,
        "live": public(Prefix.INSTANCE, live.instance_id),
    }

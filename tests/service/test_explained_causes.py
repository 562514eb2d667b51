"""Each cause that the rows of Horae can name: every skip reason, hold reason, decision and error code, by real rows.

Each test walks a whole enum, so a new member without a cause here fails.
"""

import statistics
import time
from datetime import timedelta

import pytest
from msgspec.structs import replace

from horae.domain.explanations.sentences import WORDS, sentence
from horae.domain.explanations.words import Language
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Priority
from horae.domain.instances.outcomes import ErrorCode, Retryable, SkipReason, Success, Unrecoverable
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import PRECEDENCE, GateKind, GateName, HeldLane, Hold, measure_gate_name
from horae.domain.measures.measures import MeasureName
from horae.domain.schedules import SkipVerdict
from horae.domain.schedules.timers import cursor_of
from horae.domain.targets.targets import HttpTarget
from horae.domain.tasks.tasks import Decision, IgnoreReason
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.randomness import new_id, new_token
from horae.service.explanations import explanations
from horae.service.instances import instances
from horae.service.tasks import tasks
from horae.store.instances.instances import Attempt
from horae.store.limits import holds
from horae.store.nodes import leases
from horae.store.schedules import cursors
from horae.upkeep.copies import Copier
from tests.steps import a_job, a_type, claim_everywhere, settle

HOUR = timedelta(hours=1)


async def found(ctx, ref, code):
    """The only finding with this code; it names its rows, and has a sentence in every language."""
    [one] = [one for one in (await explanations.explain(ctx, ref)).findings if one.code == code]
    assert one.rows, f"{code} names no row"
    assert all(sentence(one, language) for language in Language)
    return one


def tells(finding, table, reason):
    """Whether the sentences of a finding have the words of a reason, in every language."""
    return all(getattr(WORDS[language], table)[reason] in sentence(finding, language) for language in Language)


async def triggered(ctx, name, key="k"):
    return public(Prefix.INSTANCE, (await instances.trigger(ctx, name, key, even_if_down=True)).instance_id)


async def test_every_skip_reason_is_told_by_the_row_of_its_fire(ctx, store):
    for reason in SkipReason:
        job = await a_job(ctx, reason.lower())
        verdict = SkipVerdict(job.next_fire_at, job.next_fire_at, 1, reason)
        async with store.cell(job.shard).tx() as tx:
            row = cursors.skip_row(cursor_of(job, job.next_fire_at), verdict, job.next_fire_at + HOUR, tx.now)
            assert await cursors.skip(tx, Priority.NORMAL, [row])
        skipped = await found(ctx, job.name, "SKIPPED")
        assert skipped.facts["reason"] == reason
        assert tells(skipped, "skip", reason)
        assert (await found(ctx, skipped.facts["instance"], "SKIPPED")).facts["reason"] == reason


def gate_of(job, reason):
    if reason == HoldReason.MEASURE:
        return GateName(GateKind.MEASURE, measure_gate_name(MeasureName.TRIGGER_DELAY_P95, Priority.NORMAL))
    if reason in {HoldReason.RATE, HoldReason.CONCURRENCY}:
        return GateName(GateKind.LIMIT, f"job/{job.id}")
    return GateName(GateKind.TARGET, job.definition.target.url)


async def test_every_hold_reason_is_told_by_the_hold_at_its_gate(ctx, store):
    node = new_token()
    for cell in store.cells:
        async with cell.tx() as tx:
            await leases.heartbeat(tx, node, "node-1", HOUR)
    job = await a_job(ctx, "held")
    ref = await triggered(ctx, "held")
    waits = await found(ctx, ref, "WAITS_FOR_NODE")
    assert tells(waits, "hold", HoldReason.NO_SLOT)
    for reason in HoldReason:
        if reason == HoldReason.NO_SLOT:
            continue  # no row: it is due, and no gate holds it back
        assert reason in PRECEDENCE
        now, gate = ctx.now(job.shard), gate_of(job, reason)
        hold = Hold(
            tenant_id=ctx.tenant.id, gate=gate, lane=HeldLane.ANY, reason=reason, since=now, waiting=3, next_try_at=None
        )
        async with store.cell(job.shard).tx() as tx:
            await holds.write(tx, node, [], [hold])
        held = await found(ctx, ref, "HELD")
        assert (held.facts["reason"], held.facts["gate"]) == (reason, gate.display_name)
        assert tells(held, "hold", reason)
        async with store.cell(job.shard).tx() as tx:
            await holds.write(tx, node, [(hold.tenant_id, hold.gate, hold.lane)], [])


async def test_every_error_code_is_told_by_the_attempt_and_by_the_dead_letter(ctx, store):
    await a_job(ctx, "calls")
    for code in ErrorCode:
        ref = await triggered(ctx, "calls", f"{code}-dead")
        [ran] = await claim_everywhere(store)
        await settle(store, ran, Unrecoverable(code, "what the target answered"))
        dead = await found(ctx, ref, "DEAD_LETTER")
        assert (dead.facts["error_code"], dead.facts["dead_letter"]) == (code, "NEW")
        assert tells(dead, "error", code)
        assert "what the target answered" not in str(dead)
    for code in ErrorCode:
        ref = await triggered(ctx, "calls", f"{code}-failed")
        [ran] = await claim_everywhere(store)
        note = Attempt(attempt=1, status=503, code=code)
        await Settler(store.cell(ran.shard)).settle([AttemptOutcome(ran, None, Retryable(code, "later"), note)])
        failed = await found(ctx, ref, "ATTEMPTS_FAILED")
        assert failed.facts["attempts"] == [{"attempt": 1, "code": code, "status": 503}]
        assert tells(failed, "error", code)


async def decide(ctx, store, decision):
    """Make the last request about a key end in a decision."""
    now, key = ctx.now(), decision.value
    if decision == Decision.IGNORED:
        await tasks.schedule(ctx, "T", key, at=now + HOUR, version=2)
        await tasks.schedule(ctx, "T", key, at=now + HOUR, version=1)
        return
    await tasks.schedule(ctx, "T", key, at=now - HOUR if decision == Decision.REPLACED else now + HOUR)
    match decision:
        case Decision.MOVED:
            await tasks.schedule(ctx, "T", key, at=now + 2 * HOUR)
        case Decision.REPLACED:
            assert await claim_everywhere(store)
            await tasks.schedule(ctx, "T", key, at=now + HOUR)
        case Decision.CANCELLED:
            await tasks.cancel(ctx, "T", key)


async def test_every_decision_is_told_by_the_ledger_of_its_key(ctx, store):
    await a_type(ctx, "T")
    await Copier(store).once()
    for decision in Decision:
        await decide(ctx, store, decision)
        code = "REQUEST_IGNORED" if decision == Decision.IGNORED else "DECIDED"
        told = await found(ctx, f"T/{decision}", code)
        assert told.facts["decision"] == decision
        assert decision == Decision.IGNORED or tells(told, "decision", decision)
        assert [(one.kind, one.ref) for one in told.rows] == [("task", f"T/{decision}")]


async def ignore(ctx, store, reason):
    """Make the last request about a key be ignored for a reason."""
    now, key = ctx.now(), reason.value
    match reason:
        case IgnoreReason.STALE:
            await tasks.schedule(ctx, "T", key, at=now + HOUR, version=2)
            await tasks.schedule(ctx, "T", key, at=now + HOUR, version=1)
        case IgnoreReason.SUCCEEDED:
            await tasks.schedule(ctx, "T", key, at=now - HOUR)
            [ran] = await claim_everywhere(store)
            await settle(store, ran, Success())
            await tasks.schedule(ctx, "T", key, at=now + HOUR)
        case IgnoreReason.NOT_LIVE:
            await tasks.cancel(ctx, "T", key, version=7)


async def test_every_reason_to_ignore_a_request_is_told(ctx, store):
    await a_type(ctx, "T")
    await Copier(store).once()
    for reason in IgnoreReason:
        await ignore(ctx, store, reason)
        told = await found(ctx, f"T/{reason}", "REQUEST_IGNORED")
        assert told.facts["reason"] == reason
        assert tells(told, "ignored", reason)


async def test_payloads_and_answers_are_never_told(ctx, store):
    await a_job(ctx, "quiet", target=replace(HttpTarget("http://127.0.0.1:9/"), body="hush"), payload={"card": "4111"})
    ref = await triggered(ctx, "quiet")
    [ran] = await claim_everywhere(store)
    note = Attempt(attempt=1, status=400, code="HTTP_4XX", answer="4111 refused")
    await Settler(store.cell(ran.shard)).settle(
        [AttemptOutcome(ran, None, Unrecoverable(ErrorCode.HTTP_4XX, "4111 refused"), note)]
    )
    for subject in ("quiet", ref):
        said = str(await explanations.explain(ctx, subject))
        assert "4111" not in said
        assert "hush" not in said


@pytest.mark.parametrize("ref", ["job", "dead", "job --at"])
async def test_an_explanation_costs_few_statements(ctx, store, monkeypatch, ref):
    job = await a_job(ctx, "job")
    dead = await triggered(ctx, "job")
    [ran] = await claim_everywhere(store)
    await settle(store, ran, Unrecoverable(ErrorCode.HTTP_4XX, "404"))
    asked = await counted_statements(store, monkeypatch)
    at = None if "--at" not in ref else job.next_fire_at.isoformat()
    await explanations.explain(ctx, dead if ref == "dead" else "job", at)
    assert 0 < len(asked) <= 20, asked


async def counted_statements(store, monkeypatch):
    """A list to which every statement from now on is added."""
    asked = []
    async with store.cells[0].statement() as tx:
        kind = type(tx)
    for name in ("rows", "row", "value", "run"):
        plain = getattr(kind, name)

        async def counted(self, text, *args, plain=plain):
            asked.append(text)
            return await plain(self, text, *args)

        monkeypatch.setattr(kind, name, counted)
    return asked


MULTIPLY = """
insert into instance_history
select more.*
from instance_history h, unnest($3::uuid[]) with ordinality made(id, n),
     lateral jsonb_populate_record(h, jsonb_build_object(
         'id', made.id, 'fire_time', $2::timestamptz + made.n * interval '1 minute')) more
where h.id = $1
"""
PORTION = 10_000


@pytest.mark.parametrize("rows", [200, pytest.param(200_000, marks=pytest.mark.long)])
async def test_an_explanation_is_quick_beside_much_history(ctx, store, rows, record_property):
    """The times are reported. The bound of 300 ms is judged at full size only, where little else runs."""
    job = await a_job(ctx, "job")
    dead = await triggered(ctx, "job")
    [ran] = await claim_everywhere(store)
    await settle(store, ran, Unrecoverable(ErrorCode.HTTP_4XX, "404"))
    async with store.cell(ran.shard).pool.acquire() as connection:
        await connection.execute("set statement_timeout = 0")
        for first in range(0, rows, PORTION):
            ids = [new_id(ran.shard, job.next_fire_at) for _ in range(min(PORTION, rows))]
            await connection.execute(MULTIPLY, ran.id, job.next_fire_at + timedelta(minutes=first), ids)
        await connection.execute("analyze instance_history")
    fire = (job.next_fire_at + timedelta(minutes=rows // 2)).isoformat()
    unknown = (job.next_fire_at + timedelta(minutes=2 * rows)).isoformat()
    for name, ref, at in (
        ("job", "job", None),
        ("instance", dead, None),
        ("fire", "job", fire),
        ("no row", "job", unknown),
    ):
        took = []
        for _ in range(5 if rows < 1000 else 50):
            began = time.perf_counter()
            assert (await explanations.explain(ctx, ref, at)).findings
            took.append((time.perf_counter() - began) * 1000)
        record_property(f"{name} p50 ms", round(statistics.median(took), 1))
        record_property(f"{name} most ms", round(max(took), 1))
        assert rows < 1000 or statistics.median(took) < 300, name

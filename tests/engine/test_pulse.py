"""The pulse says of every duty when there is something to do; while it cannot be read everyone looks for himself."""

from datetime import timedelta

import pytest

from horae.domain.alerts.channels import EmailChannel
from horae.domain.events.channels import Broker, Subscription, TopicAddress
from horae.domain.events.events import Event
from horae.domain.events.intakes import Intake
from horae.domain.schedules.triggers import RollingTrigger
from horae.domain.sources.sources import HttpSource, Spec
from horae.engine.pulse import ACTIVE, LATE_COMMIT_SLACK, Pulse
from horae.service.alerts import channels as alert_channels
from horae.service.encryption import secrets
from horae.service.events import intakes, subscriptions
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from horae.service.sources import sources
from horae.service.tasks import tasks
from horae.service.tenants import lifecycle
from horae.store.events import outbox
from horae.store.nodes.pulses import Sign
from horae.upkeep.audit_chain import AuditChainer
from horae.upkeep.copies import Copier
from tests.engine.graphs import a_graph, begin, step
from tests.steps import Looker, a_job, a_type, claim_everywhere, every, move_clock, query, until


class Signs:
    """The pulses of all cells, and which signs they gave at the last reading."""

    def __init__(self, store):
        self.pulses = [Pulse(cell) for cell in store.cells]
        self.heard = set()
        for pulse in self.pulses:
            for sign in Sign:
                pulse.on(sign, lambda sign=sign: self.heard.add(sign))

    async def read(self):
        self.heard.clear()
        for pulse in self.pulses:
            pulse._passes = False
            await pulse.once()
        return set(self.heard)


@pytest.fixture
async def signs(ctx, store):
    """Of cells in which nothing has happened for a while, whatever their statistics still have to tell."""
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    await Copier(store).once()
    await move_clock(store, minutes=5)
    signs = Signs(store)
    await AuditChainer(store).once()
    for _ in range(3):
        await signs.read()
    return signs


async def runs(ctx, store):
    await a_type(ctx)
    await Copier(store).once()
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")
    await claim_everywhere(store)


async def is_paused(ctx, store):
    await lifecycle.pause(ctx, ctx.tenant.name)
    await Copier(store).once()


async def is_backfilled(ctx, store):
    job = await a_job(ctx, "a", every(ctx, 60, "a"))
    await move_clock(store, hours=1)
    await Looker(store, store.cell(job.shard)).once()  # the cursor goes on
    await backfills.start(ctx, "a", "k", BackfillRequest(job.next_fire_at, job.next_fire_at + timedelta(minutes=10)))


async def rolls(ctx, store):
    await a_job(ctx, "set", RollingTrigger(window=60, every=30, anchor=store.cells[0].clock.now()))


async def begins_a_graph(ctx, _store):
    await a_graph(ctx, [step("http://127.0.0.1:9", "a")])
    await begin(ctx)


async def has_a_secret(ctx, _store):
    await secrets.put(ctx, "name", "value")


async def subscribes(ctx, _store):
    await subscriptions.put(ctx, "crm", Subscription(TopicAddress("main", "acme.events")))


async def takes_in(ctx, _store):
    await intakes.put(ctx, "in", Intake(TopicAddress("main", "acme.changes")))


async def has_an_alert_channel(ctx, _store):
    await alert_channels.put_channel(ctx, "default", EmailChannel(to=("ops@example.com",)))


async def has_a_source(ctx, _store):
    await a_type(ctx)
    await sources.put(ctx, "ARTICLE_PUBLISH", Spec(HttpSource("https://shop.example.com/")))


async def asks_for_a_task(ctx, store):
    job = await a_job(ctx)
    async with store.tx(job.shard) as tx:
        await outbox.append(tx, job.shard, job.tenant_id, Event.COMPENSATION_ASKED, {}, job_id=job.id)


@pytest.mark.parametrize(
    ("happen", "sign"),
    [
        (runs, Sign.RUNNING),
        (is_paused, Sign.HELD_TENANTS),
        (is_backfilled, Sign.BACKFILLS),
        (rolls, Sign.ROLLING_SETS),
        (begins_a_graph, Sign.GRAPHS),
        (has_a_secret, Sign.SECRETS),
        (has_a_secret, Sign.COPIES),
        (rolls, Sign.COPIES),
        (subscribes, Sign.SUBSCRIPTIONS),
        (takes_in, Sign.INTAKES),
        (has_an_alert_channel, Sign.ALERTS),
        (has_a_source, Sign.SOURCES),
        (asks_for_a_task, Sign.COMPENSATIONS),
        (has_a_secret, Sign.UNCHAINED),
    ],
)
async def test_what_a_duty_looks_for_gives_its_sign(ctx, store, signs, happen, sign):
    assert sign not in signs.heard
    await happen(ctx, store)
    assert sign in await signs.read()


async def test_every_row_that_may_be_due_is_counted(ctx, store, signs):
    """PostgreSQL's counters follow a commit by some seconds."""

    async def counted():
        return Sign.ROWS_WRITTEN in await signs.read()

    await until(lambda: _not(counted))
    await a_job(ctx)
    await until(counted)


async def _not(condition):
    return not await condition()


async def test_a_sign_that_ended_prompts_its_duty_once_more(ctx, store, signs):
    await subscribes(ctx, store)
    await signs.read()
    await subscriptions.remove(ctx, "crm")
    assert Sign.SUBSCRIPTIONS in await signs.read(), "what is gone is let go of"
    assert Sign.SUBSCRIPTIONS not in await signs.read()


async def test_a_change_that_was_committed_late_gives_its_sign(ctx, store, signs):
    await has_a_secret(ctx, store)
    late = store.cells[0].clock.now() - LATE_COMMIT_SLACK / 2
    await query(store, "update secret set changed_at = $1", late)
    assert Sign.SECRETS in await signs.read()
    await move_clock(store, seconds=120)
    for _ in range(2):
        assert Sign.SECRETS in await signs.read(), "since the last reading, and then because it was so"
    assert Sign.SECRETS not in await signs.read()


async def test_while_a_pulse_cannot_be_read_everyone_looks_for_himself(signs, monkeypatch):
    async def fail(*_args):
        raise ConnectionError

    monkeypatch.setattr("horae.store.nodes.pulses.read", fail)
    signs.heard.clear()
    signs.pulses[0]._passes = False
    with pytest.raises(ConnectionError):
        await signs.pulses[0].once()
    assert signs.heard == set(Sign)


async def test_while_nothing_goes_on_every_other_turn_is_passed_over(signs, monkeypatch):
    [pulse, _] = signs.pulses
    readings = []

    async def read(*_args):
        readings.append(True)
        return dict.fromkeys(Sign, busy)

    monkeypatch.setattr("horae.store.nodes.pulses.read", read)
    pulse._passes = busy = False
    for _ in range(10):
        await pulse.once()
    assert len(readings) == 5
    busy = True
    readings.clear()
    for _ in range(10):
        await pulse.once()
    assert len(readings) == 10
    assert Sign.ROWS_WRITTEN not in ACTIVE, "a node that only fires is not asked more often"

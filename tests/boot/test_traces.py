"""One trace from the caller's span through the API, the fire and the attempt to the span of the target."""

import asyncio

import pytest
from opentelemetry import trace

from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.domain.ids import Prefix, private
from horae.domain.instances.retries import RetryPolicy
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.security.roles import Role
from horae.service.identity import api_keys
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from horae_client import AsyncClient, Worker
from tests.otlp import attributes, collecting
from tests.receiver import receiving
from tests.steps import a_type, until
from tests.traced import as_target, deployment, follow_back, own_spans, put, settings_of, span_of_caller

CANARY = "canary-7f3a9e"
LONG = 60.0


@pytest.fixture
def collector():
    with collecting() as collector:
        yield collector


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def own():
    return own_spans()


@pytest.fixture
async def key(ctx):
    return (await api_keys.create(ctx, "admin", [Role.ADMIN, Role.WORKER])).text


async def test_a_trace_leads_from_the_caller_to_a_pushed_target(ctx, store, cells, key, collector, receiver, own):
    await a_type(ctx, "PUSHED", target=HttpTarget(f"{receiver.url}/hook?token={CANARY}"))
    await Copier(store).once()
    caller, context = span_of_caller(own)
    async with deployment(settings_of(collector, cells), store) as url:
        told = await put(url, key, f"/tasks/PUSHED/{CANARY}", context, {"payload": {"secret": CANARY}})
        await until(lambda: bool(receiver.headers), LONG)
        await until(lambda: bool(collector.named("settle")), LONG)
    target = as_target(own, receiver.headers[0]["traceparent"])
    passed = follow_back(collector, target, caller)
    assert passed == ["PUT /api/v1/tasks/{type}/{key}", "fire PUSHED", "attempt PUSHED"]
    assert target.context.trace_id == private(Prefix.INSTANCE, told["instance_id"]).int, "the trace is the instance"
    facts = attributes(collector.one("attempt PUSHED"))
    assert (facts["horae.outcome"], facts["http.response.status_code"]) == ("success", 200)
    assert CANARY not in str(collector.requests), "no query, key or payload is in a span"


async def test_a_trace_leads_from_the_caller_to_the_handler_of_a_worker(
    ctx, store, cells, key, collector, own, monkeypatch
):
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: own.provider)
    await a_type(ctx, "PULLED", target=QueueTarget("pulled"))
    await Copier(store).once()
    caller, context = span_of_caller(own)
    async with deployment(settings_of(collector, cells), store) as url:
        await put(url, key, "/tasks/PULLED/a-1", context)
        worker = Worker(url, key, wait=0.3)

        @worker.task("PULLED", queue="pulled")
        async def handle(_ctx):
            own.provider.get_tracer("target").start_span("inside").end()

        serving = asyncio.create_task(worker.serve())
        await until(lambda: bool(collector.named("settle")), LONG)
        worker.stop()
        await serving
    spans = {span.name: span for span in own.get_finished_spans()}
    assert spans["inside"].parent.span_id == spans["worker PULLED"].context.span_id
    passed = follow_back(collector, spans["worker PULLED"], caller)
    assert passed[1:] == ["fire PULLED", "attempt PULLED"]


async def test_a_client_of_the_sdk_sends_the_context_of_its_span(ctx, store, cells, key, collector, receiver, own):
    await a_type(ctx, "SENT", target=HttpTarget(f"{receiver.url}/hook"))
    await Copier(store).once()
    async with deployment(settings_of(collector, cells), store) as url, AsyncClient(url, key) as client:
        with own.provider.get_tracer("caller").start_as_current_span("caller") as caller:
            await client.tasks.schedule("SENT", "a-1")
        await until(lambda: bool(collector.named("settle")), LONG)
    follow_back(collector, as_target(own, receiver.headers[0]["traceparent"]), caller)


async def test_a_caller_that_is_not_sampled_leaves_no_span_and_no_byte(ctx, store, cells, key, collector, receiver):
    await a_type(ctx, "QUIET", target=HttpTarget(f"{receiver.url}/hook"))
    await Copier(store).once()
    context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
    async with deployment(settings_of(collector, cells), store) as url:
        for number in range(20):
            await put(url, key, f"/tasks/QUIET/a-{number}", context)
        await until(lambda: len(receiver.headers) == 20, LONG)
    assert not collector.spans
    assert {headers["traceparent"][-2:] for headers in receiver.headers} == {"00"}


async def test_every_fire_is_sampled_where_all_are(ctx, store, cells, key, collector, receiver):
    at_once = RetryPolicy(base=0.01, jitter_min=0, jitter_max=0.001)
    await a_type(ctx, "ALL", target=HttpTarget(f"{receiver.url}/hook"), retry=at_once)
    await Copier(store).once()
    receiver.answers["/hook"] = [500]
    link = "https://traces.example.com/t/{trace_id}"
    async with deployment(settings_of(collector, cells, traces_sampled=1.0, trace_link=link), store) as url:
        told = await put(url, key, "/tasks/ALL/a-1")
        await until(lambda: len(collector.named("attempt ALL")) == 2, LONG)
        async with AsyncClient(url, key) as client:
            shown = await client.instances.get(told["instance_id"])
    trace_id = private(Prefix.INSTANCE, told["instance_id"]).bytes
    assert shown.trace_url == link.replace("{trace_id}", trace_id.hex())
    fire = collector.one("fire ALL")
    first, second = sorted(collector.named("attempt ALL"), key=lambda span: span.start_time_unix_nano)
    assert {span.trace_id for span in (fire, first, second)} == {trace_id}
    assert first.parent_span_id == second.parent_span_id == fire.span_id
    assert attributes(first)["horae.outcome"] == "retryable"
    assert [h["traceparent"].split("-")[2] for h in receiver.headers] == [first.span_id.hex(), second.span_id.hex()]


async def test_a_dead_collector_loses_spans_and_nothing_else(ctx, store, cells, key, collector, receiver):
    await a_type(ctx, "LOST", target=HttpTarget(f"{receiver.url}/hook"))
    await Copier(store).once()
    collector.status = 503
    settings = settings_of(collector, cells, traces_sampled=1.0)
    async with run_node(settings, store, await secrets_of(settings, store)) as node:
        exporter = node.metric_sources[-1]
        for number in range(20):
            await tasks.schedule(ctx, "LOST", f"a-{number}")
        await until(lambda: len(receiver.headers) == 20, LONG)
        await until(lambda: exporter.lost["not_accepted"] >= 40, LONG)
        assert exporter.exported == 0
        collector.status = 200
        await tasks.schedule(ctx, "LOST", "b")
        await until(lambda: exporter.exported >= 3, LONG)
    assert len(receiver.effects) == 21

"""A line of the log says whose request it is about, and which trace it belongs to."""

import httpx2

from horae.api.app import AppParts
from horae.api.routes import runs
from horae.boot.api_server import app_of
from horae.domain.ids import Prefix, public
from horae.runtime.tracing import REQUEST_TRACE, Tracer
from horae.security.roles import Role
from horae.service.workers.polls import Polls
from tests.runtime.test_telemetry import lines

__all__ = ["lines"]
TRACE = "0af7651916cd43dd8448eb211c80319c"
INSTANCE = "ins_01hv3zq5k8e9r7t2m4n6p8s0v1"


class Sink:
    def __init__(self):
        self.spans = []

    def add(self, span):
        self.spans.append(span)


async def test_a_failed_request_names_its_tenant_and_its_trace(
    settings, doors, callers, key, tenant, monkeypatch, lines
):
    async def fail(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(runs.tiers, "find", fail)
    sink = Sink()
    app = app_of(settings, doors, callers, AppParts(polls=Polls(doors), tracer=Tracer(0.0, sink)))
    headers = {"Authorization": f"Bearer {await key(Role.VIEWER)}", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://horae.test", headers=headers) as client:
        assert (await client.get(f"/api/v1/instances/{INSTANCE}")).status_code == 500
    [line] = [line for line in lines() if line["event"] == "api.failed"]
    assert (line["tenant"], line["trace_id"]) == (public(Prefix.TENANT, tenant.id), TRACE)
    [span] = sink.spans
    assert (span.failed, span.attributes["http.route"]) == (True, "/api/v1/instances/{instance}")
    assert INSTANCE not in str(span)
    REQUEST_TRACE.set(None)

"""The metrics of a process, in their own registry."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from horae.runtime.telemetry import counts

REQUEST_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Metrics of requests by route and status, not by tenant: there may be a million tenants."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        labels = ("route", "method", "status")
        self.requests = Counter("horae_api_requests", "Requests answered.", labels, registry=self.registry)
        self.seconds = Histogram(
            "horae_api_request_seconds",
            "Time to answer.",
            ("route",),
            registry=self.registry,
            buckets=REQUEST_BUCKETS_S,
        )
        self.inside = Gauge("horae_api_requests_inside", "Requests in progress.", registry=self.registry)
        self.registry.register(_Counts())

    def text(self) -> bytes:
        """Returns all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class _Counts(Collector):
    """The counters of the process, by event name."""

    def collect(self) -> Iterator[Metric]:
        """Yields one family with a sample per event."""
        family = CounterMetricFamily("horae_events", "Events counted by name.", labels=["event"])
        for event, many in sorted(counts.items()):
            family.add_metric([event], many)
        yield family

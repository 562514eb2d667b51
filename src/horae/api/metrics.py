"""The metrics of an API process: its requests, and what its sources have."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from horae.runtime.metrics import MetricFacts, MetricKind, MetricRegistry, MetricSource

REQUEST_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
REQUESTS: Final = MetricFacts(
    "horae_api_requests", MetricKind.COUNTER, "Requests answered.", ("route", "method", "status")
)
REQUEST_SECONDS: Final = MetricFacts("horae_api_request_seconds", MetricKind.HISTOGRAM, "Time to answer.", ("route",))
REQUESTS_INSIDE: Final = MetricFacts("horae_api_requests_inside", MetricKind.GAUGE, "Requests in progress.")
API_FAMILIES: Final = (REQUESTS, REQUEST_SECONDS, REQUESTS_INSIDE)


class Metrics:
    """Metrics of requests by route and status, not by tenant: there may be a million tenants."""

    def __init__(self, *sources: MetricSource) -> None:
        self.registry = MetricRegistry(*sources)
        registry = self.registry.registry
        self.requests = Counter(REQUESTS.name, REQUESTS.text, REQUESTS.labels, registry=registry)
        self.seconds = Histogram(
            REQUEST_SECONDS.name,
            REQUEST_SECONDS.text,
            REQUEST_SECONDS.labels,
            registry=registry,
            buckets=REQUEST_BUCKETS_S,
        )
        self.inside = Gauge(REQUESTS_INSIDE.name, REQUESTS_INSIDE.text, registry=registry)
        self._series: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answered request. Its series are looked up once: that costs more than to count."""
        key = route, method, status
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = self.requests.labels(*key), self.seconds.labels(route)
        series[0].inc()
        series[1].observe(seconds)

    def text(self) -> bytes:
        """Returns all metrics in the text format of Prometheus."""
        return self.registry.text()

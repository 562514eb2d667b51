"""Metrics of a process, in the text format of Prometheus.

A family is declared once, with its unit in its name. Sources yield its samples when somebody asks: what the process
counts anyway costs nothing more. Labels have few values: never a URL, a business key or a tenant.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from horae.runtime.telemetry import counts

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
Labels = tuple[str, ...]


class MetricKind(StrEnum):
    """How a family is read."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class MetricFacts(NamedTuple):
    """A family of metrics."""

    name: str
    kind: MetricKind
    text: str
    labels: Labels = ()

    def samples(self, values: Mapping[Labels, float]) -> Metric:
        """Returns the family with one sample for each combination of labels."""
        make = CounterMetricFamily if self.kind == MetricKind.COUNTER else GaugeMetricFamily
        family = make(self.name, self.text, labels=self.labels)
        for labels, value in values.items():
            family.add_metric(labels, value)
        return family

    def sample(self, value: float) -> Metric:
        """Returns a family without labels."""
        return self.samples({(): value})

    def histograms(self, bounds_s: Sequence[float], counted: Mapping[Labels, tuple[Sequence[int], float]]) -> Metric:
        """Returns the family of histograms: for each combination of labels the count of each bucket, and the sum.

        There is one count more than there are bounds.
        """
        family = HistogramMetricFamily(self.name, self.text, labels=self.labels)
        names = [*(f"{bound:g}" for bound in bounds_s), "+Inf"]
        for labels, (buckets, total) in counted.items():
            so_far, below = 0, []
            for name, many in zip(names, buckets, strict=True):
                so_far += many
                below.append((name, so_far))
            family.add_metric(labels, below, total)
        return family


class MetricSource(Protocol):
    """Something that has metrics."""

    def collect(self) -> Iterator[Metric]:
        """Yields its families. Called in the event loop."""
        ...


EVENTS: Final = MetricFacts(
    "horae_events", MetricKind.COUNTER, "Refusals and other events that are counted.", ("event",)
)
RUNTIME_FAMILIES: Final = (EVENTS,)


class EventMetrics:
    """What `telemetry.count` has counted in this process, by the name of the event."""

    def collect(self) -> Iterator[Metric]:
        """Yields one family."""
        yield EVENTS.samples({(event,): many for event, many in sorted(counts.items())})


class _Collector(Collector):
    def __init__(self, source: MetricSource) -> None:
        self._source = source

    def collect(self) -> Iterator[Metric]:
        yield from self._source.collect()

    def describe(self) -> list[Metric]:
        return []  # the names are known when it is collected


class MetricRegistry:
    """All metrics of a process: those of its sources, and memory, CPU time and open files."""

    def __init__(self, *sources: MetricSource) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        for source in (EventMetrics(), *sources):
            self.add(source)

    def add(self, source: MetricSource) -> None:
        """Add a source."""
        self.registry.register(_Collector(source))

    def text(self) -> bytes:
        """Returns all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)

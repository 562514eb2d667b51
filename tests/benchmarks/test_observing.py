"""The bench of metrics and traces counts what it says: one fire of a hundred is sampled, with three spans each."""

from benchmarks import observing
from horae.domain.traces.contexts import is_sampled
from horae.runtime.tracing import Tracer

MANY = 50_000


class CountingSink:
    def __init__(self):
        self.spans = []

    def add(self, span):
        self.spans.append(span)


def test_a_sampled_fire_has_three_spans_and_every_other_none():
    sink = CountingSink()
    tracer = Tracer(observing.SAMPLED_PART, sink)
    runs = observing.instances(MANY)
    work = observing._traces(tracer)
    for ran in runs:
        work(ran)
    sampled = [ran for ran in runs if is_sampled(ran.id.int, tracer.least)]
    assert len(sink.spans) == 3 * len(sampled)
    assert MANY * observing.SAMPLED_PART / 2 < len(sampled) < MANY * observing.SAMPLED_PART * 2

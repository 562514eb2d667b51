"""A slowdown for the gate to find, by `HORAE_BENCH_PATCH`: each dispatch looks at everyone who waits."""

from collections import deque

from horae.engine.admission import admission

# It pretends to stand in the file it slows down: lines are counted by file.
SLOW_DISPATCH = """
def dispatch(self):
    for _ in everyone_who_waits(self):
        pass
    return original_dispatch(self)
"""

offered: deque[object] = deque()
original_offer = admission.Admission.offer


def offer(self, *args):
    offered.append(args)
    original_offer(self, *args)


def everyone_who_waits(keeper):
    while len(offered) > keeper.waiting:
        offered.popleft()
    return offered


place = {"everyone_who_waits": everyone_who_waits, "original_dispatch": admission.Admission.dispatch}
exec(compile(SLOW_DISPATCH, admission.__file__, "exec"), place)
admission.Admission.offer = offer
admission.Admission.dispatch = place["dispatch"]

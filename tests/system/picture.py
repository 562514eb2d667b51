"""A timeline as SVG: calls a second, how late the slowest were, and when which fault was on."""

from collections.abc import Sequence

from horae.runtime.picture import LATE, RATE, Bar, Panel
from horae.runtime.picture import draw as draw_panels

__all__ = ["Bar", "draw"]


def draw(title: str, timeline: Sequence[Sequence[int]], bars: Sequence[Bar]) -> str:
    """Two curves one above the other over the same seconds, with the faults as bars behind both."""
    calls, late = [row[1] for row in timeline], [row[2] for row in timeline]
    panels = [
        Panel(f"calls/s, at most {max(calls, default=1) or 1}", calls, RATE),
        Panel(f"p95 late, at most {max(late, default=1) or 1} ms", late, LATE),
    ]
    return draw_panels(title, panels, bars)

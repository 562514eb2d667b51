"""A timeline as SVG: calls a second, how late the slowest were, and when which fault was on."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, LEFT, RIGHT, TOP, HIGH, GAP = 900, 60, 20, 34, 110, 34
FONT = 'font-family="sans-serif" font-size="11"'
INK, CALM, CALLS, LATE, FAULT = "#333", "#ddd", "#2b6cb0", "#c05621", "#e53e3e"


class Bar(NamedTuple):
    """A fault, in seconds of the timeline."""

    name: str
    began: float
    healed: float


def draw(title: str, timeline: Sequence[Sequence[int]], bars: Sequence[Bar]) -> str:
    """Two curves one above the other over the same seconds, with the faults as bars behind both."""
    length = max(1, len(timeline))
    most_calls = max([row[1] for row in timeline] or [1]) or 1
    most_late = max([row[2] for row in timeline] or [1]) or 1
    height = TOP + 2 * HIGH + GAP + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14" fill="{INK}">{escape(title)}</text>',
        *(_bar(bar, length) for bar in bars),
        _curve([row[1] for row in timeline], most_calls, TOP, CALLS, f"calls/s, at most {most_calls}"),
        _curve([row[2] for row in timeline], most_late, TOP + HIGH + GAP, LATE, f"p95 late, at most {most_late} ms"),
        *_axis(length, TOP + 2 * HIGH + GAP),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(second: float, length: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * second / length, 1)


def _bar(bar: Bar, length: int) -> str:
    left = _x(max(0.0, bar.began), length)
    wide = max(1.5, _x(min(bar.healed, length), length) - left)
    name = escape(bar.name)
    return (
        f'<g><title>{name}</title><rect x="{left}" y="{TOP}" width="{wide:.1f}" height="{2 * HIGH + GAP}" '
        f'fill="{FAULT}" opacity="0.15"/></g>'
    )


def _curve(values: Sequence[int], most: int, top: int, colour: str, label: str) -> str:
    length = max(1, len(values))
    points = " ".join(
        f"{_x(n + 0.5, length)},{round(top + HIGH * (1 - value / most), 1)}" for n, value in enumerate(values)
    )
    return (
        f'<line x1="{LEFT}" y1="{top + HIGH}" x2="{WIDTH - RIGHT}" y2="{top + HIGH}" stroke="{CALM}"/>'
        f'<text x="{LEFT}" y="{top - 4}" fill="{colour}">{escape(label)}</text>'
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    )


def _axis(length: int, bottom: int) -> list[str]:
    step = next((step for step in (5, 10, 30, 60, 120, 300, 600) if length / step <= 12), 600)
    return [
        f'<text x="{_x(second, length)}" y="{bottom + 16}" fill="{INK}" text-anchor="middle">{second} s</text>'
        for second in range(0, length + 1, step)
    ]

"""Curves as SVG, one panel above the other over the same axis, with bars behind them."""

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

WIDTH: Final = 900
LEFT: Final = 60
RIGHT: Final = 20
TOP: Final = 34
HIGH: Final = 110
GAP: Final = 34
"""Pixels: the width of the picture, its margins, the height of a panel, and the space between two."""
FONT: Final = 'font-family="sans-serif" font-size="11"'
INK: Final = "#333"
CALM: Final = "#ddd"
RATE: Final = "#2b6cb0"
LATE: Final = "#c05621"
FAULT: Final = "#e53e3e"
COLOURS: Final = (RATE, LATE, "#2f855a", "#6b46c1", "#b7791f")


class Bar(NamedTuple):
    """A stretch of the axis, with its name."""

    name: str
    began: float
    healed: float


class Panel(NamedTuple):
    """One curve. It is drawn from 0 to its largest value; None is a gap."""

    label: str
    values: Sequence[float | None]
    colour: str = RATE


def draw(title: str, panels: Sequence[Panel], bars: Sequence[Bar] = (), ticks: Sequence[str] = ()) -> str:
    """The panels over one axis of places; `ticks` name the places, else they are seconds."""
    length = max([1, *(len(panel.values) for panel in panels)])
    bottom = TOP + len(panels) * (HIGH + GAP) - GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 40}" {FONT}>',
        f'<rect width="{WIDTH}" height="{bottom + 40}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14" fill="{INK}">{escape(title)}</text>',
        *(_bar(bar, length, bottom) for bar in bars),
        *(_curve(panel, TOP + n * (HIGH + GAP), length) for n, panel in enumerate(panels)),
        *_axis(length, bottom, ticks),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(second: float, length: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * second / length, 1)


def _bar(bar: Bar, length: int, bottom: int) -> str:
    left = _x(max(0.0, bar.began), length)
    wide = max(1.5, _x(min(bar.healed, length), length) - left)
    name = escape(bar.name)
    return (
        f'<g><title>{name}</title><rect x="{left}" y="{TOP}" width="{wide:.1f}" height="{bottom - TOP}" '
        f'fill="{FAULT}" opacity="0.15"/></g>'
    )


def _curve(panel: Panel, top: int, length: int) -> str:
    most = max([value for value in panel.values if value is not None], default=1) or 1
    points = [
        f"{_x(n + 0.5, length)},{round(top + HIGH * (1 - value / most), 1)}"
        for n, value in enumerate(panel.values)
        if value is not None
    ]
    dots = [f'<circle cx="{x}" cy="{y}" r="3" fill="{panel.colour}"/>' for x, y in (p.split(",") for p in points)]
    return (
        f'<line x1="{LEFT}" y1="{top + HIGH}" x2="{WIDTH - RIGHT}" y2="{top + HIGH}" stroke="{CALM}"/>'
        f'<text x="{LEFT}" y="{top - 4}" fill="{panel.colour}">{escape(panel.label)}</text>'
        f'<polyline points="{" ".join(points)}" fill="none" stroke="{panel.colour}" stroke-width="1.5"/>'
        + ("".join(dots) if len(points) <= 30 else "")
    )


def _axis(length: int, bottom: int, ticks: Sequence[str]) -> list[str]:
    if ticks:
        return [
            f'<text transform="translate({_x(n + 0.5, length)} {bottom + 12}) rotate(-40)" fill="{INK}" '
            f'text-anchor="end" font-size="9">{escape(tick)}</text>'
            for n, tick in enumerate(ticks)
        ]
    step = next((step for step in (5, 10, 30, 60, 120, 300, 600) if length / step <= 12), 600)
    return [
        f'<text x="{_x(second, length)}" y="{bottom + 16}" fill="{INK}" text-anchor="middle">{second} s</text>'
        for second in range(0, length + 1, step)
    ]

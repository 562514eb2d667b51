"""What every page has to pass: axe finds nothing serious, and it is no wider than a phone."""

from pathlib import Path

from tests.console.browser import NARROW, WIDE
from tests.console.desk import Desk

AXE = Path(__file__).parents[2] / "console/node_modules/axe-core/axe.min.js"
RUN = """async () => (await axe.run({resultTypes: ["violations"]})).violations
    .filter(one => ["serious", "critical"].includes(one.impact))
    .map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 200)).join(" ... ")}`)"""
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


async def check_page(desk: Desk, name: str) -> None:
    """Check the page that is open, in a browser that loads `AXE` into each of its pages."""
    await desk.settled()
    assert await desk.page.evaluate(RUN) == [], name
    for size in (NARROW, WIDE):
        await desk.page.set_viewport_size(size)  # type: ignore[arg-type]
        await desk.settled()
        assert await desk.page.evaluate(WIDER) <= 0, f"{name} is too wide"

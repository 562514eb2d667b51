"""Three hundred products, an inventory system that answers one at a time, a short window: `make demo-stock`."""

import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import httpx2
import psycopg
from rich.console import Console
from rich.live import Live
from rich.table import Table

from laptop import SECRET, free_port, laptop, service

SCHEMA = Path(__file__).with_name("schema.sql")
PRODUCTS, WINDOW, EVERY, RATE, SECONDS = 300, 20, 5, 60, 60
LOOK = """
    select count(*), count(*) filter (where counted_at > now() - %s), min(counted_at), max(counted_at) from product"""


def picture(row: tuple, asked: dict[str, int], words: list[str]) -> Table:
    """How it stands now."""
    products, fresh, oldest, newest = row
    table = Table("", "", title=f"Stock · each product once in {WINDOW} s, at most {RATE} calls a second")
    table.add_row("products", str(products))
    table.add_row("fetched within the window", f"{fresh} ({100 * fresh / max(products, 1):.0f} %)")
    table.add_row("oldest and newest quantity", f"{oldest:%H:%M:%S} {newest:%H:%M:%S}" if oldest and newest else "")
    table.add_row("calls to the inventory system", f"{asked['calls']}, at most {asked['most_in_a_second']} in a second")
    table.add_row("events", "\n".join(words))
    return table


def main() -> None:
    """From nothing to a shop that knows its stock."""
    with ExitStack() as stack:
        horae = stack.enter_context(laptop())
        dsn, port = horae.database("stock"), free_port()
        inventory = stack.enter_context(service("stock.inventory", {}, free_port()))
        connection = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        connection.execute(SCHEMA.read_text())
        said = "insert into product select 'p-' || n, 'Product ' || n from generate_series(1, %s) n"
        connection.execute(said, (PRODUCTS,))
        env = {"STOCK_DSN": dsn, "STOCK_URL": f"http://127.0.0.1:{port}", "STOCK_SECRET": SECRET}
        env |= {
            "INVENTORY_URL": inventory,
            "STOCK_WINDOW": str(WINDOW),
            "STOCK_EVERY": str(EVERY),
            "STOCK_RATE": str(RATE),
        }
        url = stack.enter_context(service("stock.web", env | horae.env, port))
        shop = stack.enter_context(httpx2.Client(base_url=url))
        asked = stack.enter_context(httpx2.Client(base_url=inventory))
        began, words = time.monotonic(), []
        with Live(console=Console(), refresh_per_second=4) as live:
            while (gone := time.monotonic() - began) < SECONDS:
                if gone > 15 and not words:
                    shop.put("/products/new-one").raise_for_status()
                    words.append("new-one came: fetched at once")
                if gone > 30 and len(words) == 1:
                    shop.delete("/products/p-1").raise_for_status()
                    words.append("p-1 went: asked for no more")
                row = connection.execute(LOOK, (timedelta(seconds=WINDOW + 2 * EVERY),)).fetchone()
                live.update(picture(row, asked.get("/rate").json(), words))
                time.sleep(0.25)


if __name__ == "__main__":
    main()

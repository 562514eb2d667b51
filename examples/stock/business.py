"""What the shop does with a quantity. The shop's own rows, by asyncpg; one statement is one transaction."""

from asyncpg import Connection, Pool


async def refreshed(pool: Pool, code: str, quantity: int, key: str) -> bool:
    """Write a quantity down, once for each refresh; False: it was written before, or there is no such product."""
    said = """
        with fetched as (
            insert into stock_history (idem_key, code, quantity)
            select $3, code, $2 from product where code = $1
            on conflict (idem_key) do nothing returning code)
        update product set quantity = $2, counted_at = clock_timestamp()
        where code in (select code from fetched) returning code"""
    return await pool.fetchval(said, code, quantity, key) is not None


async def add(pool: Pool, code: str, title: str) -> None:
    """A new product; the trigger tells Horae of it."""
    await pool.execute("insert into product (code, title) values ($1, $2) on conflict do nothing", code, title)


async def remove(pool: Pool, code: str) -> None:
    """A product is sold no more."""
    await pool.execute("delete from product where code = $1", code)


async def codes(connection: Connection) -> list[str]:
    """Every product."""
    return [row["code"] for row in await connection.fetch("select code from product order by code")]

"""The triggers that keep a rolling set equal to a table, as the page ships them, on PostgreSQL and MariaDB."""

from pathlib import Path

from horae_client import Rolling, outbox

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PRODUCT = "create table product (code varchar(100) primary key)"


def test_products_that_come_and_go_do_so_in_the_set(database, home, client):
    client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
    text = (EXAMPLES / f"subjects_{database.kind}.sql").read_text()
    statements = [text] if database.kind == "postgresql" else text.split(";")
    connection = database.connect()
    cursor = connection.cursor()
    cursor.execute(PRODUCT)
    for statement in statements:
        if statement.strip():
            cursor.execute(statement)
    connection.commit()
    for code in ("a", "b", "c"):
        cursor.execute(f"insert into product (code) values ('{code}')")
    connection.commit()
    cursor.execute("delete from product where code = 'b'")
    connection.commit()
    cursor.execute("insert into product (code) values ('never')")
    connection.rollback()
    connection.close()
    relay = outbox.Relay(database.connect, home.url, home.key)
    assert relay.once() == 4
    assert [one.key for one in client.subjects.list("STOCK")] == ["a", "c"]

"""A process whose role lacks a right refuses to start, in one line that says what to do; `horae doctor` agrees."""

import json
import os

import asyncpg
import pytest
from typer.testing import CliRunner

from horae.boot import fitness
from horae.boot.api_server import api_server
from horae.boot.cli import whole
from horae.domain.errors import Unfit
from horae.runtime.settings import Settings
from horae.store.store import Store
from tests.api.api_servers import SECRET
from tests.cluster import free_port
from tests.store.walls import as_node, as_role
from tests.system.children import Child

LONG = 60.0
OF_API = ("role of the API", "row-level security of the API")


@pytest.fixture
async def stranger(cells):
    """A role without any right in the cells."""
    name = f"stranger_{os.getpid()}_{free_port()}"
    admin = await asyncpg.connect(as_role(cells, "postgres")[0].dsn)
    await admin.execute(f"create role {name} login")
    yield name
    await admin.execute(f"drop role {name}")
    await admin.close()


async def granted(cells, role, text):
    """Runs a statement about a role in every cell."""
    for cell in cells:
        admin = await asyncpg.connect(as_role([cell], "postgres")[0].dsn)
        await admin.execute(text.format(role=role))
        await admin.close()


async def test_a_node_without_the_owners_role_for_upkeep_refuses_to_start(cells, started):
    """It fires, and every duty that only an owner may do would fail each second, for ever."""
    node = started(Child, as_role(cells, "horae_engine"), "node")
    assert await node.ended(LONG) == 5
    [line] = node.log.read_text().strip().splitlines()
    assert line.startswith("SCH_503_UNFIT cell-0: role for upkeep is horae_engine, which does not own ")
    assert "set HORAE_UPKEEP_DSN (or upkeep_dsn in HORAE_CELLS) to the DSN of their owner, " in line


async def test_a_role_without_any_right_is_refused_in_one_line(cells, started, stranger):
    process = started(Child, as_role(cells, stranger), "serve", "--port", "0")
    assert await process.ended(LONG) == 5
    [line] = process.log.read_text().strip().splitlines()
    assert line.startswith(
        "SCH_503_UNFIT the role of this DSN lacks a right; docs/database-roles.md says which process"
    )
    assert "permission denied for table" in line


async def test_a_node_names_the_right_that_its_role_lacks(cells, stranger):
    await granted(cells, stranger, "grant select on all tables in schema public to {role}")
    mixed = [
        own.model_copy(update={"upkeep_dsn": cell.dsn})
        for own, cell in zip(as_role(cells, stranger), cells, strict=True)
    ]
    async with Store.of(mixed) as store:
        with pytest.raises(
            Unfit, match=rf"cell-0: node's role in the pool is {stranger}, which lacks .* and \d+ more: "
        ):
            await fitness.check(Settings(cells=mixed, environment="test"), store)
    await granted(cells, stranger, "drop owned by {role}")


async def test_the_api_names_the_right_that_its_role_lacks(cells):
    settings = Settings(environment="test", api_secret=SECRET, api_port=0)
    async with Store.of(as_role(cells, "horae_engine")) as store:
        with pytest.raises(
            Unfit, match=r"cell-0: role of the API is horae_engine, which lacks .* more: connect as horae_api"
        ):
            async with api_server(settings, store):
                pass


async def test_the_roles_of_a_deployment_lack_nothing(cells):
    own = as_node(cells)
    async with Store.of(own) as store:
        await fitness.check(Settings(cells=own, environment="test"), store)


@pytest.mark.parametrize(
    ("upkeep", "level"), [(False, "fault"), (True, "ok")], ids=["without upkeep_dsn", "with upkeep_dsn"]
)
def test_the_doctor_says_whether_upkeep_can_do_its_work(cells, monkeypatch, upkeep, level):
    own = as_node(cells) if upkeep else as_role(cells, "horae_engine")
    monkeypatch.setenv("HORAE_CELLS", json.dumps([cell.model_dump() for cell in own]))
    monkeypatch.setenv("HORAE_API_CELLS", json.dumps([cell.model_dump() for cell in as_role(cells, "horae_api")]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")
    done = CliRunner().invoke(whole(), ["doctor", "--json"])
    assert done.exit_code == 1, "the server of the tests is not durable"
    found = {(one["cell"], one["name"]): one["level"] for one in json.loads(done.stdout)}
    assert found["cell-0", "role for upkeep"] == level
    assert found["cell-0", "node's role in the pool"] == "ok"
    of_api = {name: found["cell-0, as the API reaches it", name] for name in OF_API}
    assert of_api == dict.fromkeys(OF_API, "ok")

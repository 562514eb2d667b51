"""One server and one browser for all of these tests: they belong to one process, and to one loop."""

from collections.abc import AsyncIterator, Generator
from pathlib import Path
from zlib import crc32

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.cluster import Cluster
from tests.console import witness
from tests.console.browser import LANGUAGES, PATIENCE_MS, browsing, profile
from tests.console.certified_days import certified_days
from tests.console.desk import Desk
from tests.console.runs import runs_and_causes
from tests.console.scene import Scene, set_up
from tests.console.serving import Home, Served, serving
from tests.console.words import Words

HERE = Path(__file__).parent
HANGS_AFTER_S = 400
"""Seconds after which a test has hung: some look at every page, beside other browsers and databases."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.add_marker(pytest.mark.timeout(HANGS_AFTER_S))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that names no language runs in one of the two, by its name, and in the other where there is time."""
    named = any("language" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "language" in metafunc.fixturenames and not named:
        first = crc32(metafunc.definition.name.encode()) % 2
        other = pytest.param(LANGUAGES[1 - first], marks=pytest.mark.long)
        metafunc.parametrize("language", [LANGUAGES[first], other])


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """What fails is told with what the desk showed and the server said: pages and logs are gone when it is read."""
    try:
        return (yield)
    except Exception as error:
        desk, served = (pyfuncitem.funcargs.get(name) for name in ("desk", "served"))
        if isinstance(desk, Desk):
            error.add_note(desk.loop.run_until_complete(witness.seen(desk.page.context)))
        if isinstance(served, Served):
            error.add_note("\n".join(witness.last_lines(one.log) for one in (served.door, served.node)))
        raise


@pytest.fixture(scope="session", autouse=True)
def patience() -> None:
    expect.set_options(timeout=PATIENCE_MS)


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def served(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with serving(cluster, tmp_path_factory.mktemp("console")) as served:
        yield served


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def lived(served: Served) -> tuple[Home, dict[str, str]]:
    """A tenant with something on every page, for tests that only look."""
    home = await served.home()
    scene = Scene(served, home)
    made = await set_up(served, home) | await runs_and_causes(scene)
    return home, made | {"certificate": await certified_days(scene)}


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as browser:
        yield browser


@pytest.fixture
def words(language: str) -> Words:
    return Words(language)


@pytest_asyncio.fixture(loop_scope="session")
async def home(served: Served) -> Home:
    return await served.home()


@pytest_asyncio.fixture(loop_scope="session")
async def desk(served: Served, browser: Browser, home: Home, words: Words) -> AsyncIterator[Desk]:
    """Somebody's desk, who has logged in with a key that may do everything in a tenant of its own."""
    async with profile(browser, words.language) as context:
        desk = Desk(await context.new_page(), served, words)
        await desk.log_in(home.key)
        yield desk
        desk.ears.check()

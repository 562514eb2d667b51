"""Names are looked up beside everything else."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from horae.delivery.names import lookup


async def test_names_are_found_while_every_other_thread_is_busy():
    loop, over = asyncio.get_running_loop(), threading.Event()
    loop.set_default_executor(ThreadPoolExecutor(1))
    busy = loop.run_in_executor(None, over.wait)
    try:
        async with asyncio.timeout(30):
            assert "127.0.0.1" in await lookup("localhost", 80)
    finally:
        over.set()
        await busy

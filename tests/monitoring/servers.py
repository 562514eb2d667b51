"""The real Prometheus and Alertmanager on free ports, and a receiver of what Alertmanager sends."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import yaml

from tests.cluster import free_port
from tests.steps import until
from tests.system.children import Child

LONG = 90.0
ALERTMANAGER = {
    "route": {
        "receiver": "test",
        "group_by": ["..."],
        "group_wait": "0s",
        "group_interval": "1s",
        "repeat_interval": "1h",
    }
}


class Hook:
    """A receiver of webhooks: keeps each body, and answers 200."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/"
        self.bodies: list[Any] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                [length] = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                self.bodies.append(json.loads(await reader.readexactly(int(length.split(b":")[1]))))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def alerts(self, name: str) -> list[str]:
        """The states of an alert, in the order in which they came."""
        told = [alert for body in self.bodies for alert in body["alerts"] if alert["labels"]["alertname"] == name]
        return [alert["status"] for alert in told]


@asynccontextmanager
async def receiving(port: int | None = None) -> AsyncIterator[Hook]:
    """A receiver of webhooks, until the end of the block."""
    hook = Hook(port or free_port())
    server = await asyncio.start_server(hook.serve, "127.0.0.1", int(hook.url.split(":")[2].strip("/")))
    try:
        yield hook
    finally:
        server.close()


class Prometheus(Child):
    """Prometheus with an Alertmanager, both scraped and asked by tests only."""

    def __init__(self, folder: Path) -> None:
        super().__init__("prometheus", folder / "prometheus.log")
        self.folder, self.url = folder, f"http://127.0.0.1:{free_port()}"
        self._alertmanager = Child("alertmanager", folder / "alertmanager.log")
        self._client = httpx2.AsyncClient(base_url=self.url, timeout=20)

    async def start(self, targets: dict[str, list[int]], rules: str, hook: Hook) -> None:
        """Scrape these ports each second, by the names of their jobs. Alerts go to the hook."""
        router = f"127.0.0.1:{free_port()}"
        receiver = {"name": "test", "webhook_configs": [{"url": hook.url, "send_resolved": True}]}
        routes = self._write("alertmanager.yml", ALERTMANAGER | {"receivers": [receiver]})
        where = [f"--storage.path={self.folder / 'alertmanager'}", f"--web.listen-address={router}"]
        self._alertmanager.spawn(
            ["prometheus-alertmanager", f"--config.file={routes}", *where, "--cluster.listen-address="]
        )
        (self.folder / "rules.yml").write_text(rules)
        scraped = [
            {"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{port}" for port in ports]}]}
            for job, ports in targets.items()
        ]
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": [router]}]}]},
            "scrape_configs": scraped,
        }
        told = [f"--config.file={self._write('prometheus.yml', config)}", f"--storage.tsdb.path={self.folder / 'tsdb'}"]
        self.spawn(["prometheus", *told, f"--web.listen-address={self.url.removeprefix('http://')}"])
        await until(self._is_ready, LONG)

    async def query(self, expression: str) -> list[dict[str, Any]]:
        """The answer to an instant query."""
        answer = await self._client.get("/api/v1/query", params={"query": expression})
        assert answer.status_code == 200, (expression, answer.text)
        found: list[dict[str, Any]] = answer.json()["data"]["result"]
        return found

    async def value(self, expression: str) -> float | None:
        """The only value of an expression; None without one."""
        found = await self.query(expression)
        assert len(found) <= 1, expression
        return float(found[0]["value"][1]) if found else None

    async def close(self) -> None:
        """End both."""
        await self._client.aclose()
        self.end()
        self._alertmanager.end()

    def _write(self, name: str, facts: Any) -> Path:
        path = self.folder / name
        path.write_text(yaml.safe_dump(facts))
        return path

    async def _is_ready(self) -> bool:
        assert self.running, self.tail()
        try:
            return bool((await self._client.get("/-/ready")).status_code == 200)
        except httpx2.ConnectError:
            return False

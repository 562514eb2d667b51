"""psql for preparing data and reading counters."""

import subprocess

from benchmarks.server import PORT, Server


def run(_server: Server, database: str, *texts: str) -> str:
    """Run statements; returns what the last one printed."""
    words = [word for text in texts for word in ("-c", text)]
    done = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(PORT), "-U", "postgres",
         *words, database],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


def value(server: Server, database: str, text: str) -> str:
    """The one value a query returns."""
    return run(server, database, text)

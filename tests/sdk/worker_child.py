"""A worker to be killed: `python -m tests.sdk.worker_child URL KEY DSN`. What it did it says at the end, as JSON.

Every task takes effect in a database of the business's own, once per idempotency key.
"""

import json
import sys
import time

from horae_client import Worker, receive
from horae_client.outbox.__main__ import connecting

TAKES = 0.1


def main() -> None:
    url, key, dsn = sys.argv[1:]
    worker = Worker(url, key, concurrency=8, wait=0.5, grace=20.0)

    def work(connection, ctx):
        cursor = connection.cursor()
        cursor.execute("insert into effect (idem_key, what) values (%s, %s)", (ctx.idempotency_key, ctx.key))
        time.sleep(TAKES)

    worker.task("LOAD")(receive.effective_once(connecting(dsn), work))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    worker.run()
    sys.stdout.write(json.dumps(worker.counts) + "\n")


if __name__ == "__main__":
    main()

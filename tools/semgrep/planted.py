"""One violation of every rule, for `make check` to find: a rule that finds nothing here is broken. Never imported."""
# ruff: noqa
# fmt: off

# ruleid: no-code-out-of-data
import pickle
# ruleid: no-shell
import subprocess
# ruleid: no-way-around-the-guard
import requests
# ruleid: no-guessable-secret
import random
import hashlib, hmac, os, socket, ssl, time, yaml
from datetime import datetime

# ruleid: no-default-secret
api_secret: str = "swordfish"
# ok: no-default-secret
other_secret: str = ""


async def planted(connection, name, cls, data, sql):
    # ruleid: no-code-out-of-data
    eval(data)
    # ruleid: no-objects-out-of-yaml
    yaml.load(data)
    # ruleid: no-shell-anywhere
    os.system(data)
    # ruleid: no-shell-anywhere
    subprocess.run("ls", shell=True)
    # ruleid: no-sql-out-of-text
    await connection.execute(f"select {name}")
    # ruleid: no-sql-out-of-text
    await connection.fetch("select %s" % name)
    # ruleid: no-sql-outside-the-store
    await connection.fetch("select 1")
    # ok: no-sql-out-of-text, no-sql-outside-the-store
    await connection.fetch(sql, name)
    # ruleid: no-wall-clock
    time.time()
    # ruleid: no-wall-clock
    datetime.now()
    # ok: no-wall-clock
    time.monotonic()
    # ruleid: no-sleeping-thread
    time.sleep(1)
    # ruleid: no-unverified-peer
    requests.get("https://example.com", verify=False)
    context = ssl.create_default_context()
    # ruleid: no-unverified-peer
    context.check_hostname = False
    # ruleid: no-connection-outside-delivery
    socket.create_connection(("127.0.0.1", 1))
    # ruleid: no-first-key-of-a-dict
    del data[next(iter(data))]
    # ruleid: no-first-key-of-a-dict
    first = next(iter(data))
    del data[first]
    # ruleid: no-weak-digest
    hashlib.md5(data)
    # ruleid: no-plain-comparison-of-digests
    return hmac.digest(data, data, "sha256") == data

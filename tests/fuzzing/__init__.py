"""What strangers write, guided by coverage: cron expressions, bodies, addresses, signatures, cursors.

`python -m tests.fuzzing cron -runs=1000000` feeds one target; a crash leaves its input in a file `crash-…`.
"""

TARGETS = {
    "cron": "crons",
    "json": "bodies",
    "url": "addresses",
    "signature": "signatures",
    "cursor": "cursors",
    "token": "tokens",
}
"""Each a module with `feed(data)`, which may raise nothing, and `SEEDS`, from which the fuzzer begins."""

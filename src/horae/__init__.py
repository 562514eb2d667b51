"""Horae decides when to try a call. The business that is called decides whether the call takes effect.

The packages are layers, listed from top to bottom. A package imports only from the layers below it. Two packages of one
layer never import each other: they communicate through rows in PostgreSQL::

    testing                 a server, a clock and a receiver for tests
    boot                    turns settings into objects; the CLI
    api | upkeep            HTTP | slow background duties
    service | engine        work that a request starts | work that time starts
    repositories            state in memory on top of statements: definitions, keys, secrets, results
    delivery | store        calls to the outside world | PostgreSQL
    security                keys, encryption, login
    runtime                 clock, loop, batch, settings, telemetry
    domain                  pure rules: no I/O, no clock, no randomness
"""

__version__ = "0.1.0"

"""Horae decides when to try; the business it calls decides whether it takes effect.

The house, top to bottom. Imports go downstairs only; rooms on one floor never import each other,
they leave a row::

    boot                    settings -> objects, CLI
    upkeep                  slow duties
    service | engine        someone asked | time passed
    delivery | store        the outside world | PostgreSQL
    runtime                 clock, loop, batch, settings, telemetry
    domain                  rules on paper, no I/O, no clock, no dice
"""

__version__ = "0.1.0"

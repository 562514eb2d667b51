"""The domain: the rules of Horae as plain functions and values. Time and randomness come in as arguments.

Here live jobs, triggers, schedules, instances and their states, outcomes, limits, placement and the checks of input.

Nothing here does I/O, reads a clock, draws a random number or starts a thread; an import contract in `pyproject.toml`
enforces this. SQL statements live in `store`, calls in `delivery`, loops in `engine` and `upkeep`, and the operations
behind the API in `service`.
"""

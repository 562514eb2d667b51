"""The operations that the API server, the CLI and the nodes run on behalf of a tenant.

An operation takes a `Context` (`horae.service.context`). One that changes something usually is one transaction in one
shard, and that transaction also writes the event (an outbox row) and the audit row. The package also holds the memory
of a process that its callers share: `memory`, `workers.attempt_cache`, `tasks.types`, `identity.callers`.

Not here: decisions (`horae.domain`), statements (`horae.store`), HTTP (`horae.api`), the firing and dispatch of due
work (`horae.engine`), periodic maintenance (`horae.upkeep`).
"""

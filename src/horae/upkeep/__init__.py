"""Duties: background work that a process repeats to maintain the rows of its cells.

A duty is an object with a method `once()`. A loop calls it, pauses and calls it again; a result above 0 means that
there may be more work, and the loop calls it again at once. A duty may be killed at any point: the next round, in any
process, repeats what was not committed. Duties visit cells through `horae.store.connections.each_cell.Visits`, so a
cell that is down delays only its own part.

Here: partitions, vacuum, copies of reference rows, the hash chain of the audit log and its anchors, deletion of old
rows, key rotation, event feed and relay, intakes, sources, signals. Not here: the firing and dispatch of due work
(`horae.engine`), operations that a caller waits for (`horae.service`).
"""

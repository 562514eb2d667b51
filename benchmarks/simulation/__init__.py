"""Cells and nodes in simulated time: what a deployment does that is larger than any machine we have.

The decisions are the product's own: the timing wheel and the agenda, the order of due timers, admission with its
windows, breakers and retry budgets, the dispatcher and its batches, the completer, the division of shards by leases
and the retry policy. They run unchanged, in simulated time. What is simulated is what they wait for: the processor of
a node, PostgreSQL and the targets. How long each of those takes was measured on a real machine (`calibration`).

1. `kernel`: simulated time, and the callbacks that are due in it.
2. `processors`: cores that share their time among the threads that want to run.
3. `event_loop`: the event loop of a node. A callback uses processor time, and the next one waits for it.
4. `cells`, `nodes`, `targets`, `load`: the parts of a deployment. `scene` puts them together.
5. `scenarios`: the runs of the report. `validation`: predicted beside measured. `report`: the page.

Every run is deterministic: the same seed gives the same figures.
"""

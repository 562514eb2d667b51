"""Each matured timer runs, is held back, or is skipped.

A node has so many slots. Who gets one: classes by their shares, tenants by their weights; then the target must bear
it and the limits must allow it. What a gate holds back waits at that gate and costs nobody else their turn. A fire
held back for more than a moment is recorded all the same: its schedule goes on, and the row says that it waits.
"""

"""Statements of shard moves: the record of a move, the states of its shard in both cells, and the moved rows."""

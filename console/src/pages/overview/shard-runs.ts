import type { ShardView } from "../../api/generated/models";

/** Neighbouring shards of a cell with the same node and the same state. */
export interface ShardRun {
  first: number;
  last: number;
  count: number;
  node: string | null;
  held: boolean;
  state: string;
}

/** Returns the runs of shards of each cell, in the order of the shard numbers. */
export function shardRunsOf(shards: ShardView[]): Map<string, ShardRun[]> {
  const cells = new Map<string, ShardRun[]>();
  for (const shard of shards) {
    const cellRuns = cells.get(shard.cell) ?? [];
    const before = cellRuns.at(-1);
    const node = shard.node ?? null;
    if (before && before.node === node && before.held === shard.alive && before.state === shard.state) {
      before.last = shard.shard;
      before.count += 1;
    } else
      cellRuns.push({
        first: shard.shard,
        last: shard.shard,
        count: 1,
        node,
        held: shard.alive,
        state: shard.state,
      });
    cells.set(shard.cell, cellRuns);
  }
  return cells;
}

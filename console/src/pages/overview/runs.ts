import type { ShardView } from "../../api/generated/models";

/** Neighbouring shards of a cell that are in the same hands and the same state. */
export interface Run {
  first: number;
  last: number;
  count: number;
  node: string | null;
  held: boolean;
  state: string;
}

/** The shards of each cell, by number, as runs; a cell keeps its place. */
export function runs(shards: ShardView[]): Map<string, Run[]> {
  const cells = new Map<string, Run[]>();
  for (const shard of shards) {
    const known = cells.get(shard.cell) ?? [];
    const before = known.at(-1);
    const node = shard.node ?? null;
    if (before && before.node === node && before.held === shard.alive && before.state === shard.state) {
      before.last = shard.shard;
      before.count += 1;
    } else
      known.push({
        first: shard.shard,
        last: shard.shard,
        count: 1,
        node,
        held: shard.alive,
        state: shard.state,
      });
    cells.set(shard.cell, known);
  }
  return cells;
}

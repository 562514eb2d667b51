import { expect, test } from "vitest";
import type { ShardView } from "../../api/generated/models";
import { shardRunsOf } from "./shard-runs";

const shard = (number: number, more: Partial<ShardView> = {}): ShardView => ({
  shard: number,
  cell: "a",
  state: "ACTIVE",
  epoch: 1,
  node: "n1",
  alive: true,
  ...more,
});

test("neighbouring shards of one node are one run", () => {
  expect(shardRunsOf([shard(0), shard(1), shard(2)]).get("a")).toEqual([
    { first: 0, last: 2, count: 3, node: "n1", held: true, state: "ACTIVE" },
  ]);
});

test("another node, a lease that ran out, another state and another cell begin a new one", () => {
  const found = shardRunsOf([
    shard(0),
    shard(1, { node: "n2" }),
    shard(2, { node: "n2", alive: false }),
    shard(3, { node: null, alive: false, state: "CLOSED" }),
    shard(4, { cell: "b" }),
  ]);
  expect(found.get("a")?.map((run) => [run.first, run.node, run.held, run.state])).toEqual([
    [0, "n1", true, "ACTIVE"],
    [1, "n2", true, "ACTIVE"],
    [2, "n2", false, "ACTIVE"],
    [3, null, false, "CLOSED"],
  ]);
  expect(found.get("b")).toHaveLength(1);
});

import { expect, test } from "vitest";
import { areaOf, BOX, layOut, neighbour, touch } from "./layout";
import type { LinkedStep } from "./structure";

const step = (name: string, ...needs: string[]): LinkedStep => ({ name, needs });
const DIAMOND = [step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c"), step("e", "a", "d")];

/** A thousand steps, each needing up to three of the fifty before it: the same each time. */
function aThousand(): LinkedStep[] {
  let seed = 7;
  const dice = (sides: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % sides;
  };
  return Array.from({ length: 1_000 }, (_, number) => {
    const needs = new Set<string>();
    for (let draw = 0; draw < 3 && number > 0; draw += 1)
      needs.add(`s${number - 1 - dice(Math.min(50, number))}`);
    return step(`s${number}`, ...(number % 40 === 0 ? [] : needs));
  });
}

test("each step stands right of those that it needs", () => {
  const { steps } = layOut(DIAMOND);
  const at = Object.fromEntries(steps.map((one) => [one.name, one]));
  for (const { name, needs } of DIAMOND)
    for (const need of needs) expect(at[name]?.x).toBeGreaterThan((at[need]?.x ?? 0) + BOX.width);
});

test("no two steps overlap, and all lie within the drawing", () => {
  const layout = layOut(aThousand());
  expect(layout.steps).toHaveLength(1_000);
  for (const column of layout.columns) {
    const areas = column.map((name) => areaOf(layout.steps.find((one) => one.name === name) as never));
    areas.sort((one, other) => one.top - other.top);
    for (let place = 1; place < areas.length; place += 1)
      expect(touch(areas[place - 1] as never, areas[place] as never)).toBe(false);
  }
  for (const area of layout.steps.map(areaOf)) {
    expect(Math.min(area.left, area.top)).toBeGreaterThanOrEqual(0);
    expect(area.right).toBeLessThanOrEqual(layout.width);
    expect(area.bottom).toBeLessThanOrEqual(layout.height);
  }
});

test("an edge that passes a column does not cross its steps", () => {
  const { steps, edges } = layOut([step("a"), step("b", "a"), step("c", "a", "b")]);
  const passing = edges.find((edge) => edge.from === "a" && edge.to === "c");
  const between = steps.find((one) => one.name === "b");
  const [, height] = /H\d+C|C[^H]* (\d+)H/.exec(passing?.path ?? "") ?? [];
  const y = Number(height);
  expect(y < (between?.y ?? 0) || y > (between?.y ?? 0) + BOX.height).toBe(true);
});

test("a chain of a thousand steps and a fan of a thousand are laid out", () => {
  const chain = layOut(
    Array.from({ length: 1_000 }, (_, n) => step(`s${n}`, ...(n > 0 ? [`s${n - 1}`] : []))),
  );
  expect(chain.columns).toHaveLength(1_000);
  expect(new Set(chain.steps.map((one) => one.y)).size).toBe(1);
  const fan = layOut([step("a"), ...Array.from({ length: 999 }, (_, n) => step(`s${n}`, "a"))]);
  expect(fan.columns.map((column) => column.length)).toEqual([1, 999]);
});

test("a thousand steps are laid out in less than a second of this process", () => {
  const steps = aThousand();
  const used = process.cpuUsage();
  layOut(steps);
  const took = process.cpuUsage(used);
  expect((took.user + took.system) / 1_000).toBeLessThan(1_000);
});

test("arrow keys follow the edges and the columns", () => {
  const layout = layOut(DIAMOND);
  const at = (name: string) => layout.steps.find((one) => one.name === name) as never;
  const links = { needs: ["a"], followers: ["d"] };
  expect(neighbour(layout, at("b"), "ArrowLeft", links)).toBe("a");
  expect(neighbour(layout, at("b"), "ArrowRight", links)).toBe("d");
  const beside = [
    neighbour(layout, at("b"), "ArrowDown", links),
    neighbour(layout, at("b"), "ArrowUp", links),
  ];
  expect(beside).toContain("c");
  expect(neighbour(layout, at("b"), "End", links)).toBe("e");
  expect(neighbour(layout, at("b"), "x", links)).toBeUndefined();
});

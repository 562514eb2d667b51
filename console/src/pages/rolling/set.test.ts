import { expect, test } from "vitest";
import type { CoverageView, JobView } from "../../api/generated/models";
import { agesOf, percent, setOf } from "./set";

const job = { trigger: { kind: "rolling", window: 864_000, every: 86_400 } } as unknown as JobView;

test("what nobody said about a set is as the API has it", () => {
  expect(setOf(job)).toEqual({
    window: 864_000,
    every: 86_400,
    budget: null,
    share: 0.999,
    fresh: 1_036_800,
  });
});

test("a share is never shown as more than it is", () => {
  expect([1, 0.99899999, 0.5, 0].map(percent)).toEqual(["100 %", "99.899 %", "50 %", "0 %"]);
});

test("ages are told by the window, then what is no longer fresh, then what never was", () => {
  const told = agesOf(setOf(job), { ages: [4, 0, 0, 0, 2, 1, 8] } as CoverageView);
  expect(told.map((age) => [age.name, age.length, age.part])).toEqual([
    ["under", "2 d 12 h", 0.5],
    ["under", "5 d", 0],
    ["under", "7 d 12 h", 0],
    ["under", "10 d", 0],
    ["under", "12 d", 0.25],
    ["older", "12 d", 0.125],
    ["never", "12 d", 1],
  ]);
});

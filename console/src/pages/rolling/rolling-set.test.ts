import { expect, test } from "vitest";
import type { CoverageView, JobView } from "../../api/generated/models";
import { agesOf, percent, rollingSetOf } from "./rolling-set";

const job = { trigger: { kind: "rolling", window: 864_000, every: 86_400 } } as unknown as JobView;

test("missing settings have the defaults of the API", () => {
  expect(rollingSetOf(job)).toEqual({
    window: 864_000,
    every: 86_400,
    budget: null,
    share: 0.999,
    fresh: 1_036_800,
  });
});

test("a share is never rounded up", () => {
  expect([1, 0.99899999, 0.5, 0].map(percent)).toEqual(["100 %", "99.899 %", "50 %", "0 %"]);
});

test("ages are split by the window, then older ones, then subjects that never succeeded", () => {
  const ages = agesOf(rollingSetOf(job), { ages: [4, 0, 0, 0, 2, 1, 8] } as CoverageView);
  expect(ages.map((age) => [age.name, age.length, age.part])).toEqual([
    ["under", "2 d 12 h", 0.5],
    ["under", "5 d", 0],
    ["under", "7 d 12 h", 0],
    ["under", "10 d", 0],
    ["under", "12 d", 0.25],
    ["older", "12 d", 0.125],
    ["never", "12 d", 1],
  ]);
});

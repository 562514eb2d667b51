import { expect, test } from "vitest";
import type { JobView } from "../../api/generated/models";
import { resultsOf } from "./results";

const job = { name: "coupon job" } as JobView;

test("an empty text has no results", () => {
  expect(resultsOf("  ", [])).toEqual([]);
});

test("an instance's id finds that instance only", () => {
  expect(resultsOf(" ins_01hv3zq5k8 ", [job])).toEqual([
    { kind: "instance", id: "ins_01hv3zq5k8", to: "/instances/ins_01hv3zq5k8" },
  ]);
});

test("a name finds jobs and, last, instances with that business key", () => {
  expect(resultsOf("coupon", [job]).map((one) => [one.kind, one.to])).toEqual([
    ["job", "/jobs/coupon%20job"],
    ["key", "/instances?key=%22coupon%22"],
  ]);
});

test("a type and a key find the task, also with special characters in the key", () => {
  expect(resultsOf("publish/a/b?c", [])[0]).toEqual({
    kind: "task",
    type: "publish",
    key: "a/b?c",
    to: "/tasks/publish/a%2Fb%3Fc",
  });
});

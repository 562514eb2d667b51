import { expect, test } from "vitest";
import type { JobView } from "../../api/generated/models";
import { finds } from "./finds";

const job = { name: "coupon job" } as JobView;

test("nothing asked is nothing found", () => {
  expect(finds("  ", [])).toEqual([]);
});

test("an instance's id leads to that instance alone", () => {
  expect(finds(" ins_01hv3zq5k8 ", [job])).toEqual([
    { kind: "instance", id: "ins_01hv3zq5k8", to: "/instances/ins_01hv3zq5k8" },
  ]);
});

test("a name leads to jobs and, last, to instances with that business key", () => {
  expect(finds("coupon", [job]).map((one) => [one.kind, one.to])).toEqual([
    ["job", "/jobs/coupon%20job"],
    ["key", "/instances?key=%22coupon%22"],
  ]);
});

test("a type and a key lead to the task, however strange its key is", () => {
  expect(finds("publish/a/b?c", [])[0]).toEqual({
    kind: "task",
    type: "publish",
    key: "a/b?c",
    to: "/tasks/publish/a%2Fb%3Fc",
  });
});

import { expect, test } from "vitest";
import { statusOf } from "./subject-status";

test("a status is read from numbers and addresses, and nothing else", () => {
  expect([0, "3", 4, "", "x", undefined].map(statusOf)).toEqual([
    0,
    3,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

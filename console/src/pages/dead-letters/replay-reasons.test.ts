import { expect, test } from "vitest";
import { findReason } from "./replay-reasons";

test("reasons of the server are found with their figures, others are not", () => {
  expect(findReason("the canary failed: 1 of 5 did not succeed")).toEqual({
    name: "canaryFailed",
    blanks: { failed: "1", sent: "5" },
  });
  expect(findReason("the outcomes of 3 replays of the canary")?.name).toBe("canary");
  expect(findReason("the outcomes of 3 replays")?.name).toBe("outcomes");
  expect(findReason("stopped by user:ada")?.blanks).toEqual({ name: "user:ada" });
  expect(findReason("a step that failed (ValueError); it is tried again")?.blanks).toEqual({
    name: "ValueError",
  });
  expect(findReason("cell-1, which does not answer")).toBeNull();
});

import { expect, test } from "vitest";
import { keyIdIn } from "./key-ids";

const ID = "key_01hv3zq5k8e9r7t2m4n6p8s0v1";

test("a key is found by its id and in its principal, and nothing else is", () => {
  expect(keyIdIn(ID)).toBe(ID);
  expect(keyIdIn(`key:${ID}`)).toBe(ID);
  expect(keyIdIn("user:li.na")).toBeUndefined();
  expect(keyIdIn("a job named key_1")).toBeUndefined();
});

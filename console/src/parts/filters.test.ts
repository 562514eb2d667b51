import { expect, test } from "vitest";
import { moment, oneOf, someOf, text } from "./filters";

test("an address that makes no sense filters nothing", () => {
  expect(text({ a: 1 })).toBeUndefined();
  expect(oneOf("SHOUTING", ["INIT", "FAIL"])).toBeUndefined();
  expect(someOf("FAIL", ["INIT", "FAIL"])).toEqual(["FAIL"]);
  expect(someOf(["x", "FAIL"], ["INIT", "FAIL"])).toEqual(["FAIL"]);
  expect(someOf([], ["INIT"])).toBeUndefined();
  expect(moment("yesterday")).toBeUndefined();
});

test("a key that looks like a number is still a text", () => {
  expect(text(42)).toBe("42");
});

test("a moment keeps its instant", () => {
  expect(moment("2026-11-15T09:00:00+08:00")).toBe("2026-11-15T01:00:00.000Z");
});

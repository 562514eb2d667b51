import { expect, test } from "vitest";
import { readChoice, readChoices, readText, readTime } from "./search-params";

test("invalid search parameters are ignored", () => {
  expect(readText({ a: 1 })).toBeUndefined();
  expect(readChoice("SHOUTING", ["INIT", "FAIL"])).toBeUndefined();
  expect(readChoices("FAIL", ["INIT", "FAIL"])).toEqual(["FAIL"]);
  expect(readChoices(["x", "FAIL"], ["INIT", "FAIL"])).toEqual(["FAIL"]);
  expect(readChoices([], ["INIT"])).toBeUndefined();
  expect(readTime("yesterday")).toBeUndefined();
});

test("a key that looks like a number is still a text", () => {
  expect(readText(42)).toBe("42");
});

test("a time keeps its instant", () => {
  expect(readTime("2026-11-15T09:00:00+08:00")).toBe("2026-11-15T01:00:00.000Z");
});

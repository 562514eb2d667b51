import { expect, test } from "vitest";
import { readJson, restoreIntegers, writeJson } from "./json";

const LARGE =
  '{"id":1783295187664392193,"less":-9223372036854775808,"text":"9007199254740993 \\"1","n":[0,1.5,2e3]}';

test("integers beyond 53 bits are written as they were read, and texts are left alone", () => {
  const value = readJson(LARGE) as { id: bigint; text: string };
  expect(value.id).toBe(1783295187664392193n);
  expect(value.text).toBe('9007199254740993 "1');
  expect(writeJson(value)).toBe(LARGE.replace("2e3", "2000"));
  expect(restoreIntegers(JSON.stringify(value))).toBe(writeJson(value));
});

test("invalid JSON is refused", () => {
  for (const text of ["01783295187664392193", "1783295187664392193x", "-", "{", '"'])
    expect(() => readJson(text), text).toThrow();
});

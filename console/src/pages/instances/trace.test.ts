import { expect, test } from "vitest";
import { traceOf } from "./trace";

test("the trace of an instance is its id as a number of 128 bits", () => {
  expect(traceOf("ins_00000000000000000000000001")).toBe("00000000000000000000000000000001");
  expect(traceOf("ins_7zzzzzzzzzzzzzzzzzzzzzzzzz")).toBe("ffffffffffffffffffffffffffffffff");
});

import { expect, test } from "vitest";
import { size } from "./sizes";

test("sizes have three digits at most", () => {
  const cases = [0, 512, 1536, 3 * 2 ** 20, 1.5 * 2 ** 30, 561 * 2 ** 30, 7.8 * 2 ** 40];
  expect(cases.map(size)).toEqual(["0 B", "512 B", "1.5 KiB", "3 MiB", "1.5 GiB", "561 GiB", "7.8 TiB"]);
});

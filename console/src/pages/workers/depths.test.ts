import { expect, test } from "vitest";
import { addSample, clientOf, type DepthSample, growthPerMinute } from "./depths";

test("the growth of a queue is that of the samples of the last two minutes", () => {
  let samples: DepthSample[] = [];
  for (let second = 0; second <= 300; second += 10)
    samples = addSample(samples, { at: second * 1000, waiting: second < 200 ? 50 : 50 + (second - 200) });
  expect(samples[0]?.at).toBe(180_000);
  expect(growthPerMinute(samples)).toBe(50);
});

test("one sample says nothing, and a sample read twice counts once", () => {
  const one = addSample([], { at: 5_000, waiting: 9 });
  expect(growthPerMinute(one)).toBeNull();
  expect(addSample(one, { at: 5_000, waiting: 9 })).toHaveLength(1);
});

test("a client is read from its User-Agent", () => {
  expect(clientOf("horae-client/1.0.0 python/3.11")).toEqual({
    name: "horae-client",
    version: "1.0.0",
    runs: "python/3.11",
  });
  expect(clientOf(null)).toEqual({ name: "", version: "", runs: "" });
});

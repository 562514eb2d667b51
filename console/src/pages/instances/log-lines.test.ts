import { expect, test } from "vitest";
import { addEvents, isAtEnd, keyOf, NO_LINES, toneOfLevel } from "./log-lines";

const line = (attempt: number, number: number, text: string | null = `line ${number}`, dropped = 0) => ({
  id: `${attempt}.${number}`,
  name: text === null ? "dropped" : "line",
  data: JSON.stringify({ attempt, number, at: null, level: null, text, dropped }),
});

test("of a long log the last lines are kept, and the dropped ones are counted", () => {
  const many = Array.from({ length: 25 }, (_, number) => line(1, number));
  const log = addEvents(addEvents(NO_LINES, many.slice(0, 8), 10), many.slice(8), 10);
  expect(log.lines.map((one) => one.number)).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
  expect(log.dropped).toBe(15);
});

test("a line that is sent twice is shown once, also after a mark with its number", () => {
  const first = addEvents(NO_LINES, [line(1, 0), line(1, 7, null, 6)]);
  const log = addEvents(first, [line(1, 0), line(1, 7, null, 6), line(1, 7), line(2, 0)]);
  expect(log.lines.map(keyOf)).toEqual(["1.0", "1.7 mark", "1.7", "2.0"]);
});

test("the end of the stream is kept", () => {
  const log = addEvents(NO_LINES, [{ id: null, name: "end", data: '{"state":"SUCCESS"}' }]);
  expect(log.isEnded).toBe(true);
  expect(addEvents(log, []).isEnded).toBe(true);
});

test("levels have tones, whatever their case", () => {
  expect(["ERROR", "warning", "WARN", "info", null].map(toneOfLevel)).toEqual([
    "bad",
    "warn",
    "warn",
    "idle",
    "idle",
  ]);
});

test("a box follows while its end is in view", () => {
  expect(isAtEnd({ scrollTop: 600, clientHeight: 400, scrollHeight: 1010 })).toBe(true);
  expect(isAtEnd({ scrollTop: 100, clientHeight: 400, scrollHeight: 1010 })).toBe(false);
});

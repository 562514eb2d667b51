import { expect, test } from "vitest";
import en from "../../words/en";
import zh from "../../words/zh-CN";
import { type Decided, picture } from "./picture";

const at = (minute: number) => new Date(Date.UTC(2026, 10, 15, 9, minute)).toISOString();
const by = "key_1";

test("a time that was moved no longer holds, and one that was ignored changed nothing", () => {
  const told: Decided[] = [
    { decision: "created", on: at(0), by, at: at(10) },
    { decision: "moved", on: at(1), by, at: at(20) },
    { decision: "ignored", on: at(2), by, reason: "stale" },
  ];
  const { strokes, now } = picture(told, 1, Date.parse(at(5)));
  expect(strokes.map((each) => each.holds)).toEqual([false, true, true]);
  expect(strokes.map((each) => each.to)).toEqual([50, 100, null]);
  expect(now).toBe(25);
});

test("every creation begins a generation, and the last is the one that is told", () => {
  const told: Decided[] = [
    { decision: "moved", on: at(0), by, at: at(1) },
    { decision: "created", on: at(2), by, at: at(3) },
    { decision: "replaced", on: at(3), by, at: at(4) },
    { decision: "created", on: at(5), by, at: at(6) },
  ];
  expect(picture(told, 7, Date.parse(at(6))).strokes.map((each) => each.generation)).toEqual([5, 6, 6, 7]);
});

test("a replay is drawn in a tone, and has a word in both languages", () => {
  const told: Decided[] = [{ decision: "replayed", on: at(0), by, at: at(0) }];
  expect(picture(told, 1, Date.parse(at(0))).strokes[0]?.tone).toBe("busy");
  for (const words of [en, zh]) expect(words.tasks.decision.replayed).toBeTruthy();
});

test("one moment alone stands in the middle", () => {
  const told: Decided[] = [{ decision: "created", on: at(0), by, at: at(0) }];
  expect(picture(told, 1, Date.parse(at(0))).strokes[0]).toMatchObject({ from: 50, to: 50 });
});

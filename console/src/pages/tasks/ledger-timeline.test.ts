import { expect, test } from "vitest";
import type { DecisionView } from "../../api/generated/models";
import en from "../../words/en/pages/tasks";
import zh from "../../words/zh-CN/pages/tasks";
import { timelineOf } from "./ledger-timeline";

const at = (minute: number) => new Date(Date.UTC(2026, 10, 15, 9, minute)).toISOString();
const by = "key_1";

test("a time that was moved no longer holds, and one that was ignored changed nothing", () => {
  const decisions: DecisionView[] = [
    { decision: "created", on: at(0), by, at: at(10) },
    { decision: "moved", on: at(1), by, at: at(20) },
    { decision: "ignored", on: at(2), by, reason: "stale" },
  ];
  const { entries, now } = timelineOf(decisions, 1, Date.parse(at(5)));
  expect(entries.map((each) => each.holds)).toEqual([false, true, true]);
  expect(entries.map((each) => each.to)).toEqual([50, 100, null]);
  expect(now).toBe(25);
});

test("every creation begins a generation, and the last has the given number", () => {
  const decisions: DecisionView[] = [
    { decision: "moved", on: at(0), by, at: at(1) },
    { decision: "created", on: at(2), by, at: at(3) },
    { decision: "replaced", on: at(3), by, at: at(4) },
    { decision: "created", on: at(5), by, at: at(6) },
  ];
  expect(timelineOf(decisions, 7, Date.parse(at(6))).entries.map((each) => each.generation)).toEqual([
    5, 6, 6, 7,
  ]);
});

test("a replay has a tone, and a text in both languages", () => {
  const decisions: DecisionView[] = [{ decision: "replayed", on: at(0), by, at: at(0) }];
  expect(timelineOf(decisions, 1, Date.parse(at(0))).entries[0]?.tone).toBe("busy");
  for (const words of [en, zh]) expect(words.decision.replayed).toBeTruthy();
});

test("a single instant is in the middle", () => {
  const decisions: DecisionView[] = [{ decision: "created", on: at(0), by, at: at(0) }];
  expect(timelineOf(decisions, 1, Date.parse(at(0))).entries[0]).toMatchObject({ from: 50, to: 50 });
});

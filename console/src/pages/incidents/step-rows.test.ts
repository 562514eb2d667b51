import { expect, test } from "vitest";
import type { IncidentDetailView, IncidentEntryView } from "../../api/generated/models";
import { findingsOf, stepRowsOf } from "./step-rows";

const entry = (step: string, part: string, facts: Record<string, unknown>) =>
  ({ at: "2030-01-01T00:00:00Z", cell: "cell-0", step, part, facts }) as unknown as IncidentEntryView;
const incident = (step: string, timeline: IncidentEntryView[], stop_requested = false) =>
  ({ step, timeline, stop_requested }) as IncidentDetailView;
const statuses = (one: IncidentDetailView) => stepRowsOf(one).map((row) => row.status);

test("each step is done, given up, current or next", () => {
  const timeline = [
    entry("FREEZE", "", { cells: ["cell-0"] }),
    entry("REACH_CELLS", "", { cells: 1, missing: "cell-1 does not answer" }),
  ];
  expect(statuses(incident("HOLD_SHARDS", timeline)).slice(0, 4)).toEqual([
    "done",
    "givenUp",
    "current",
    "next",
  ]);
  expect(stepRowsOf(incident("HOLD_SHARDS", timeline))[1]).toMatchObject({
    missing: "cell-1 does not answer",
    facts: [["cells", 1]],
  });
});

test("the steps after a stop are omitted, except the last one", () => {
  const stopped = [entry("FREEZE", "", { stopped: true })];
  const rest = Array.from({ length: 7 }, () => "omitted");
  expect(statuses(incident("LIFT", stopped, true))).toEqual(["stopped", ...rest, "current"]);
  expect(statuses(incident("FREEZE", [], true))).toEqual(["current", ...rest, "next"]);
  const ended = [...stopped, entry("LIFT", "", {})];
  expect(statuses(incident("ENDED", ended, true))).toEqual(["stopped", ...rest, "done"]);
});

test("the parts of a step are added up, and stand before its own facts", () => {
  const timeline = [
    entry("REQUEUE", "a", { requeued: 200, refused: 0, last: "x" }),
    entry("REQUEUE", "b", { requeued: 3, refused: 1, last: "y" }),
    entry("REQUEUE", "", { tag: "transient_error" }),
  ];
  const row = stepRowsOf(incident("AUDIT", timeline)).find((one) => one.step === "REQUEUE");
  expect(row?.facts).toEqual([
    ["requeued", 203],
    ["refused", 1],
    ["tag", "transient_error"],
  ]);
});

test("the findings of the audit are listed", () => {
  const named = [{ fault: "MISSING", job: "coupon_job", at: "2030-01-01T00:00:00Z" }];
  expect(findingsOf(incident("LIFT", [entry("AUDIT", "", { findings: 1, named })]))).toEqual(named);
  expect(findingsOf(incident("FREEZE", []))).toEqual([]);
});

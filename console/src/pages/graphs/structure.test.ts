import { expect, test } from "vitest";
import type { StepState } from "../../api/generated/models";
import { actionsOf, criticalPath, followersOf, stepsFrom } from "./structure";

const step = (name: string, state: StepState, minute: number, ...needs: string[]) => ({
  name,
  state,
  needs,
  changed_at: `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`,
});

test("a retry runs a step and all steps behind it again", () => {
  const steps = [
    step("a", "SUCCESS", 1),
    step("b", "DEAD", 2, "a"),
    step("c", "SUCCESS", 2, "a"),
    step("d", "BLOCKED", 2, "b", "c"),
  ];
  expect(stepsFrom("b", steps)).toEqual(["b", "d"]);
  expect(stepsFrom("a", steps)).toEqual(["a", "b", "c", "d"]);
  expect(followersOf(steps).get("a")).toEqual(["b", "c"]);
});

test("the critical path goes back from the step that ended last, always to the need that ended last", () => {
  const steps = [
    step("a", "SUCCESS", 1),
    step("slow", "SUCCESS", 9),
    step("b", "SUCCESS", 12, "a", "slow"),
    step("c", "SUCCESS", 3, "a"),
  ];
  expect(criticalPath(steps)).toEqual(["slow", "b"]);
});

test("the critical path of an open run ends at what runs longest, or at the failure that blocks", () => {
  const open = [step("a", "SUCCESS", 1), step("b", "RELEASED", 2, "a"), step("c", "RELEASED", 4, "a")];
  expect(criticalPath(open)).toEqual(["a", "b"]);
  const blocked = [step("a", "SUCCESS", 1), step("b", "DEAD", 3, "a"), step("c", "BLOCKED", 3, "b")];
  expect(criticalPath(blocked)).toEqual(["a", "b"]);
  expect(criticalPath([step("a", "WAITING", 0)])).toEqual([]);
});

test("only what a state allows is offered", () => {
  expect(actionsOf("DEAD")).toEqual(["retry", "skip", "succeed"]);
  expect(actionsOf("BLOCKED")).toEqual(["skip", "succeed"]);
  expect(actionsOf("SUCCESS")).toEqual(["retry"]);
  expect(actionsOf("RELEASED")).toEqual([]);
});

import { expect, test } from "vitest";
import { CauseKind, type HealthView } from "../../api/generated/models";
import { type HealthState, INITIAL_STATE, recordAnswer, recordFailure } from "./state";
import { summaryOf } from "./summary";

const HEALTHY: HealthView = {
  mode: "NORMAL",
  triggerDelayP95Ms: 12,
  triggerDelayLimitMs: 2_000,
  successRate10m: 1,
  retryBacklog: 0,
  dlqGrowthPerMin: 0,
  backlog: 0,
  fires10m: 12_345,
  causes: [],
};
const KINDS = Object.values(CauseKind);
const SEVERITY = ["good", "idle", "busy", "warn", "bad"];

const withCauses = (kinds: CauseKind[]): HealthView => ({
  ...HEALTHY,
  mode: kinds.length > 0 ? "DEGRADED" : "NORMAL",
  causes: kinds.map((kind) => ({
    kind,
    cell: "b",
    target: "shop:8000",
    since: "2030-01-01T09:00:00Z",
    count: 40,
  })),
});

const failed = (state: HealthState, times: number): HealthState =>
  times === 0 ? state : failed(recordFailure(state, "HTTP 503"), times - 1);

/** Every set of causes, before and after failed requests. */
function* everyState(): Generator<HealthState> {
  for (let times = 0; times <= 4; times++) {
    yield failed(INITIAL_STATE, times);
    for (let set = 0; set < 2 ** KINDS.length; set++) {
      const kinds = KINDS.filter((_, place) => set & (1 << place));
      yield failed(recordAnswer(withCauses(kinds), 1), times);
    }
  }
}

test("in every state the sentence, its colour and the figures agree", () => {
  let states = 0;
  for (const state of everyState()) {
    states += 1;
    const { message, tone, causes, figures } = summaryOf(state);
    const maximum = Math.max(...figures.map((one) => SEVERITY.indexOf(one.tone)));
    const marked = figures.some((one) => one.tone === "warn" || one.tone === "bad");
    expect(tone === "good").toBe(message.key === "healthy");
    if (message.key === "healthy") {
      expect(state.summary?.mode).toBe("NORMAL");
      expect(causes).toEqual([]);
      expect(marked).toBe(false);
    }
    if (marked) expect(SEVERITY.indexOf(tone)).toBeGreaterThanOrEqual(maximum);
    if (state.summary?.mode === "DEGRADED") expect(["warn", "bad"]).toContain(tone);
  }
  expect(states).toBe(5 * (1 + 2 ** KINDS.length));
});

test("the first cause is the sentence, and each has one", () => {
  for (const kind of KINDS) {
    const { message, causes } = summaryOf(recordAnswer(withCauses([kind, "BUDGET"]), 1));
    expect(message).toEqual(causes[0]);
    expect(causes).toHaveLength(2);
  }
  expect(new Set(KINDS.map((kind) => summaryOf(recordAnswer(withCauses([kind]), 1)).message.key)).size).toBe(
    KINDS.length,
  );
});

test("a target that does not answer is named with how many wait", () => {
  expect(summaryOf(recordAnswer(withCauses(["TARGET_SILENT"]), 1)).message).toMatchObject({
    key: "targetSilent",
    target: "shop:8000",
    many: "40",
  });
});

test("98.39 % of attempts that succeed is never beside a healthy sentence", () => {
  const answer = { ...withCauses(["FAILING"]), successRate10m: 0.9839 };
  const { message, tone, figures } = summaryOf(recordAnswer(answer, 1));
  expect(message).toMatchObject({ key: "attemptsFail", rate: "98.39 %" });
  expect(tone).toBe("bad");
  expect(figures.find((one) => one.name === "rate")?.tone).toBe("bad");
});

test("before the first answer there are dashes, not zeros", () => {
  const { message, tone, figures } = summaryOf(INITIAL_STATE);
  expect([message.key, tone]).toEqual(["starting", "idle"]);
  expect(new Set(figures.map((one) => one.text))).toEqual(new Set(["–"]));
});

test("two failures are shown with their number and cause; the third makes it read-only", () => {
  expect(summaryOf(failed(INITIAL_STATE, 2)).message).toEqual({
    key: "failed",
    failures: 2,
    error: "HTTP 503",
  });
  expect(summaryOf(failed(INITIAL_STATE, 3)).message).toEqual({ key: "readOnly" });
});

test("99.999 % is not rounded up to 100 %, and numbers are grouped", () => {
  const { figures } = summaryOf(recordAnswer({ ...HEALTHY, successRate10m: 0.99999 }, 1));
  expect(figures.slice(1, 3).map((one) => one.text)).toEqual(["99.99 %", "12,345"]);
});

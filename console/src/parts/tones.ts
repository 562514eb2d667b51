import type states from "../words/en/states";

export type State = keyof typeof states;
export type Tone = "good" | "warn" | "bad" | "busy" | "idle";

const TONES: Record<State, Tone> = {
  INIT: "idle",
  BLOCKED: "warn",
  RUNNING: "busy",
  FAIL: "warn",
  SUCCESS: "good",
  DEAD: "bad",
  CANCELLED: "idle",
  SKIPPED: "idle",
  ACTIVE: "good",
  PAUSED: "warn",
  COMPLETED: "idle",
  REMOVED: "idle",
  NEW: "bad",
  REPLAYING: "busy",
  REPLAYED: "good",
  DEAD_AGAIN: "bad",
  DISCARDED: "idle",
  STOPPED: "idle",
  DONE: "good",
  OPEN: "bad",
  ACKNOWLEDGED: "warn",
  RESOLVED: "good",
  SILENCED: "idle",
  PENDING: "busy",
  SENT: "good",
  CANARY: "busy",
  FAILED: "bad",
};

export const toneOf = (state: State): Tone => TONES[state];

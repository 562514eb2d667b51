import { useTranslation } from "react-i18next";
import type { GraphRunView, StepState } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

/** Cancelled counts as failed: it blocks what needs it. */
const TONES: Record<StepState, Tone> = {
  WAITING: "idle",
  BLOCKED: "warn",
  RELEASED: "busy",
  SUCCESS: "good",
  DEAD: "bad",
  CANCELLED: "bad",
  SKIPPED: "idle",
  WAIVED: "idle",
};

export const toneOfStep = (state: StepState): Tone => TONES[state];

/** The state of a step or of an element, by colour and text. */
export function StepTag({ state }: { state: StepState }) {
  const { t } = useTranslation("graphs");
  return (
    <span className={`state tone-${toneOfStep(state)}`} title={state}>
      {t(`state.${state}`)}
    </span>
  );
}

/** The state of a run. A run that waits for a person is blocked. */
export function RunTag({ run }: { run: Pick<GraphRunView, "state" | "blocked"> }) {
  const { t } = useTranslation("graphs");
  const state = run.state === "OPEN" && run.blocked ? "BLOCKED" : run.state;
  const tone = state === "OPEN" ? "busy" : toneOfStep(state);
  return (
    <span className={`state tone-${tone}`} title={state}>
      {t(`runState.${state}`)}
    </span>
  );
}

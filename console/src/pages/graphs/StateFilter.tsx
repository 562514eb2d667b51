import { useTranslation } from "react-i18next";
import type { StepState } from "../../api/generated/models";
import { toneOfStep } from "./StepTag";

/** What needs a person comes first. */
const ORDER: readonly StepState[] = [
  "DEAD",
  "CANCELLED",
  "BLOCKED",
  "RELEASED",
  "WAITING",
  "SKIPPED",
  "WAIVED",
  "SUCCESS",
];

/** How many there are in each state; each figure is a filter. */
export function StateFilter({ counts, chosen, onChoose }: StateFilterProps) {
  const { t } = useTranslation("graphs");
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div className="step-filters" role="group" aria-label={t("steps.filter")}>
      {ORDER.filter((state) => counts[state]).map((state) => (
        <button
          key={state}
          type="button"
          className={`state step-filter tone-${toneOfStep(state)}`}
          aria-pressed={state === chosen}
          onClick={() => onChoose(state === chosen ? undefined : state)}
        >
          {t(`state.${state}`)} {counts[state]?.toLocaleString("en")}
        </button>
      ))}
    </div>
  );
}

interface StateFilterProps {
  counts: Partial<Record<StepState, number>>;
  chosen: StepState | undefined;
  onChoose: (state: StepState | undefined) => void;
}

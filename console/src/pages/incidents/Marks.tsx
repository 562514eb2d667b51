import { useTranslation } from "react-i18next";
import type { IncidentGrade, IncidentView } from "../../api/generated/models";

const RESULT_TONES = { RECOVERY_COMPLETED: "good", STOPPED: "idle" } as const;

export function GradeMark({ grade }: { grade: IncidentGrade }) {
  const { t } = useTranslation("incidents");
  return <span className={`state tone-${grade === "P1" ? "bad" : "warn"}`}>{t(`grades.${grade}`)}</span>;
}

/** How far recovery is: how it ended, or the step that is to be done next. */
export function ProgressMark({ incident }: { incident: IncidentView }) {
  const { t } = useTranslation("incidents");
  if (incident.result)
    return (
      <span className={`state tone-${RESULT_TONES[incident.result]}`}>{t(`results.${incident.result}`)}</span>
    );
  if (incident.stop_requested) return <span className="state tone-warn">{t("stopRequested")}</span>;
  return <span className="state tone-busy">{t(`steps.${incident.step}`)}</span>;
}

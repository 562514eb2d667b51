import { useTranslation } from "react-i18next";
import type { FailureCauseDetail } from "../../api/generated/models";
import { HoldLine } from "../../parts/HoldLine";
import type { State, Tone } from "../../parts/tones";

/** What changed since the dead letters died, and so whether a replay is likely to succeed. */
export function SinceDeath({ one }: { one: FailureCauseDetail }) {
  const { t } = useTranslation(["triage", "states"]);
  const since = one.since_death;
  const ended = Object.entries(since.ended)
    .map(([state, count]) => `${t(`states:${state as State}`)} ${count}`)
    .join(" · ");
  const outlook = outlookOf(one);
  return (
    <>
      <p className={`sentence tone-${TONES[outlook]}`}>
        <span className="toned">{t(`since.outlook.${outlook}`)}</span>
      </p>
      <ul>
        <li>{useJobText(one)}</li>
        <li>{ended ? t("since.ended", { ended }) : t("since.nothingEnded")}</li>
        {since.held.length === 0 && <li>{t("since.nothingHeld")}</li>}
      </ul>
      {since.held.map((hold) => (
        <HoldLine key={`${hold.reason} ${hold.name}`} hold={hold} />
      ))}
    </>
  );
}

function useJobText(one: FailureCauseDetail): string {
  const { t } = useTranslation(["triage", "states"]);
  const { job_status, job_version, changed } = one.since_death;
  if (!job_status) return t("since.gone");
  const status = t(`states:${job_status as State}`);
  if (changed) return t("since.changed", { version: job_version, died: one.newest_version, status });
  return t("since.unchanged", { version: job_version, status });
}

const TONES: Record<Outlook, Tone> = {
  gone: "bad",
  held: "warn",
  good: "good",
  mixed: "warn",
  unknown: "idle",
};
type Outlook = "gone" | "held" | "good" | "mixed" | "unknown";

/** Whether a replay is likely to succeed, by what happened since. */
function outlookOf(one: FailureCauseDetail): Outlook {
  const { job_status, ended, held } = one.since_death;
  if (!job_status || job_status === "REMOVED") return "gone";
  if (held.length > 0) return "held";
  const dead = ended.DEAD ?? 0;
  if (dead > 0) return "mixed";
  return (ended.SUCCESS ?? 0) > 0 ? "good" : "unknown";
}

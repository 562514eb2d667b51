import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { AlertSeverity, AlertView } from "../../api/generated/models";
import { JobLink } from "../../parts/instance-links";
import { StateTag } from "../../parts/StateTag";
import type { Tone } from "../../parts/tones";
import { silencedUntil } from "./silences/silence-times";
import { useSilences } from "./silences/useSilences";

const TONES: Record<AlertSeverity, Tone> = { critical: "bad", warning: "warn", info: "idle" };

/** A severity by colour and text. */
export function SeverityMark({ severity }: { severity: AlertSeverity }) {
  const { t } = useTranslation("alerts");
  return <span className={`toned tone-${TONES[severity]}`}>{t(`severity.${severity}`)}</span>;
}

/** The state of an alert: firing, acknowledged, resolved, and whether a silence covers it. */
export function AlertStateMarks({ alert }: { alert: AlertView }) {
  const silenced = silencedUntil(alert, useSilences(), Date.now()) !== undefined;
  return (
    <>
      <StateTag state={alert.state} /> {silenced && <StateTag state="SILENCED" />}
    </>
  );
}

/** The job of an alert with its link; without a job, the alert is about the whole tenant or something else. */
export function AlertJob({ alert }: { alert: AlertView }) {
  return alert.job_id === null ? <>–</> : <JobLink one={{ job: alert.job, job_id: alert.job_id }} />;
}

/** The kind of an alert, with a link to its page. */
export function AlertLink({ alert }: { alert: AlertView }) {
  const { t } = useTranslation("alerts");
  return (
    <>
      <Link to="/alerts/$alert" params={{ alert: alert.id }}>
        {t(`kinds.${alert.kind}`)}
      </Link>{" "}
      <SeverityMark severity={alert.severity} />
    </>
  );
}

/** Returns the name of an alert for titles: its kind and its job. */
export function useAlertName(): (alert: AlertView) => string {
  const { t } = useTranslation("alerts");
  return (alert) => [t(`kinds.${alert.kind}`), alert.job].filter(Boolean).join(" · ");
}

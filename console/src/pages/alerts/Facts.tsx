import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { AlertView } from "../../api/generated/models";
import { useMe } from "../../app/session";
import { Fact } from "../../parts/Fact";
import { labelTexts } from "../../parts/lines";
import { Principal } from "../../parts/Principal";
import { Timestamp } from "../../parts/Timestamp";
import { SYSTEM } from "./kinds";
import { AlertJob, SeverityMark } from "./Marks";
import { placeOf } from "./places";
import { silencedUntil } from "./silences/silence-times";
import { useSilences } from "./silences/useSilences";

const DEFAULT_RULE = "default:";

/** The details of an alert: what happened, what it means and what to do first. */
export function Facts({ alert }: { alert: AlertView }) {
  const { t } = useTranslation("alerts");
  const labels = labelTexts(alert.labels);
  const ofPlatform = useMe().me?.tenant === SYSTEM && alert.job_id === null;
  const owner = alert.owner ?? (ofPlatform ? t("facts.operators") : null);
  const silenceEnd = silencedUntil(alert, useSilences(), Date.now());
  return (
    <dl className="facts">
      <Fact name={t("columns.reason")}>{alert.reason}</Fact>
      <Fact name={t("facts.meaning")}>{t(`meanings.${alert.kind}`)}</Fact>
      <Fact name={t("facts.look")}>
        <LookAt alert={alert} />
      </Fact>
      <Fact name={t("facts.runbook")}>
        <Runbook alert={alert} />
      </Fact>
      <Fact name={t("columns.job")}>
        <AlertJob alert={alert} />
      </Fact>
      {owner && <Fact name={t("columns.owner")}>{owner}</Fact>}
      {labels.length > 0 && <Fact name={t("facts.labels")}>{labels.join(", ")}</Fact>}
      <Fact name={t("facts.severity")}>
        <SeverityMark severity={alert.severity} />
      </Fact>
      <Fact name={t("columns.count")}>{alert.count.toLocaleString()}</Fact>
      <Fact name={t("columns.since")}>
        <Timestamp at={alert.opened_at} />
      </Fact>
      <Fact name={t("facts.lastSeen")}>
        <Timestamp at={alert.last_seen_at} />
      </Fact>
      {silenceEnd && (
        <Fact name={t("facts.silence")}>
          <Timestamp at={silenceEnd} />
        </Fact>
      )}
      {alert.acknowledged_at && (
        <Fact name={t("facts.acknowledged")}>
          <Principal id={alert.acknowledged_by ?? ""} /> · <Timestamp at={alert.acknowledged_at} />
        </Fact>
      )}
      {alert.resolved_at && (
        <Fact name={t("columns.resolvedAt")}>
          <Timestamp at={alert.resolved_at} />
        </Fact>
      )}
      <Fact name={t("facts.rule")}>
        {alert.rule.startsWith(DEFAULT_RULE) ? t("facts.defaultRule") : alert.rule}
      </Fact>
      <Fact name={t("facts.channels")}>{alert.channels.join(", ") || "–"}</Fact>
      <Fact name={t("facts.id")}>
        <code>{alert.id}</code>
      </Fact>
    </dl>
  );
}

/** The page that shows what the alert is about. */
function LookAt({ alert }: { alert: AlertView }) {
  const { t } = useTranslation("alerts");
  const { to, text, search, hash } = placeOf(alert);
  return (
    <Link to={to as string} search={(search ?? {}) as never} {...(hash ? { hash } : {})}>
      {t(`places.${text}`, { job: alert.job })}
    </Link>
  );
}

/** The page that explains what to do: of the job, or of the kind; without an address, its path in the documentation. */
function Runbook({ alert }: { alert: AlertView }) {
  if (!alert.runbook) return <code>docs/runbooks/{alert.kind}.md</code>;
  if (!/^https?:\/\//i.test(alert.runbook)) return <>{alert.runbook}</>;
  return (
    <a href={alert.runbook} target="_blank" rel="noopener noreferrer">
      {alert.runbook}
    </a>
  );
}

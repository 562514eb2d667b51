import { useTranslation } from "react-i18next";
import type { IncidentDetailView } from "../../api/generated/models";
import { Figure } from "../../parts/Figure";
import { secondsText } from "../../parts/times";

/** What recovery did so far. A figure that is not known yet is a dash while the incident is open. */
export function Summary({ incident }: { incident: IncidentDetailView }) {
  const { t } = useTranslation("incidents");
  const { summary } = incident;
  const open = !incident.ended_at;
  const rto = summary.rto_s ?? null;
  const rpo = summary.rpo_s ?? null;
  const findings = summary.findings ?? null;
  return (
    <dl className="figures">
      <Figure name={t("summary.rto")} tone={rto === null && !open ? "bad" : "idle"}>
        {rto === null ? (open ? "–" : t("summary.notReached")) : secondsText(rto)}
      </Figure>
      <Figure name={t("summary.rpo")} tone={rpo === null && !open ? "warn" : "idle"}>
        {rpo === null ? (open ? "–" : t("summary.notKnown")) : secondsText(rpo)}
      </Figure>
      <Figure name={t("summary.shards")}>{summary.shards_held.toLocaleString("en")}</Figure>
      <Figure name={t("summary.subscriptions")}>{summary.subscriptions_replayed.toLocaleString("en")}</Figure>
      <Figure name={t("summary.requeued")}>{summary.dead_letters_requeued.toLocaleString("en")}</Figure>
      <Figure name={t("summary.refused")} tone={summary.dead_letters_refused > 0 ? "warn" : "idle"}>
        {summary.dead_letters_refused.toLocaleString("en")}
      </Figure>
      <Figure name={t("summary.findings")} tone={findings ? "bad" : "idle"}>
        {findings === null ? (open ? "–" : t("summary.notAudited")) : findings.toLocaleString("en")}
      </Figure>
    </dl>
  );
}

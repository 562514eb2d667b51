import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { DelayCauseView } from "../../api/generated/models";
import { percent } from "../../app/health/summary";
import { duration } from "../../parts/times";

/** Why fires start late, as far as figures show it: each cause in a sentence. A tenant has a link. */
export function DelayCauses({ causes }: { causes: DelayCauseView[] }) {
  const { t } = useTranslation("overview");
  if (causes.length === 0) return null;
  return (
    <>
      <h3>{t("delayCauses.title")}</h3>
      <ul>
        {causes.map((cause) => (
          <li key={`${cause.kind} ${cause.subject}`}>
            <Cause cause={cause} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Cause({ cause }: { cause: DelayCauseView }) {
  const { t } = useTranslation("overview");
  const { kind, subject, figures } = cause;
  const span = (name: string) => duration(figures[name] ?? 0);
  const share = (name: string) => percent(figures[name] ?? 0);
  const count = (name: string) => (figures[name] ?? 0).toLocaleString("en");
  const text = t(`delayCauses.${kind}`, {
    subject: subject ?? "–",
    offset: span("offset_ms"),
    stalled: span("stalled_ms"),
    p95: span("p95_ms"),
    slots: share("slots_share"),
    late: share("late_share"),
    waiting: count("waiting"),
    fires: count("fires"),
    times: count("times_usual"),
    read: count("definitions_read"),
    of: count("of"),
  });
  if (kind !== "TENANT_HERD" || !subject) return text;
  return (
    <>
      {text}{" "}
      <Link to="/tenants/all/$tenant" params={{ tenant: subject }}>
        {t("delayCauses.tenant", { subject })}
      </Link>
    </>
  );
}

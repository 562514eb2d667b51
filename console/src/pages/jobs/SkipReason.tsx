import { useTranslation } from "react-i18next";

/** The reason why a fire is skipped. */
export function SkipReason({ reason }: { reason: string }) {
  const { t, i18n } = useTranslation("jobs");
  const known = i18n.exists(`reason.${reason}`, { ns: "jobs" });
  return (
    <span className="state tone-warn" title={reason}>
      {known ? t(`reason.${reason as "PAUSED"}`) : reason}
    </span>
  );
}

import { useTranslation } from "react-i18next";

/** Why a fire does not happen. */
export function Skipped({ reason }: { reason: string }) {
  const { t, i18n } = useTranslation("jobs");
  const known = i18n.exists(`reason.${reason}`, { ns: "jobs" });
  return (
    <span className="state tone-warn" title={reason}>
      {known ? t(`reason.${reason as "PAUSED"}`) : reason}
    </span>
  );
}

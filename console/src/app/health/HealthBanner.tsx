import { useTranslation } from "react-i18next";
import { ago } from "../../parts/times";
import { useHealth } from "./useHealth";

/** A banner at the top of every page while the console is read-only: the reason, and the time of the last answer. */
export function HealthBanner() {
  const { t, i18n } = useTranslation(["health", "frame"]);
  const { readOnly, seenAt } = useHealth();
  if (!readOnly) return null;
  return (
    <div className="banner tone-bad" role="alert">
      <strong>{t("readOnly")}</strong>
      <div>{t("frame:can.readOnly")}</div>
      {seenAt !== null && <div>{t("last", { when: ago(seenAt, Date.now(), i18n.language) })}</div>}
    </div>
  );
}

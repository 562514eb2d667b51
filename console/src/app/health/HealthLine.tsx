import { useTranslation } from "react-i18next";
import { summaryOf } from "./summary";
import { useHealth } from "./useHealth";

/** The health of the scheduler in one sentence, at the top of every page. */
export function HealthLine() {
  const { t } = useTranslation("health");
  const { message, tone } = summaryOf(useHealth());
  return (
    <span className={`health tone-${tone}`} role="status" aria-label={t("label")}>
      {t(message.key, { ...message })}
    </span>
  );
}

import { useTranslation } from "react-i18next";
import { messageOf } from "./state";
import { useHealth } from "./useHealth";

const TONES = {
  starting: "idle",
  healthy: "good",
  degraded: "warn",
  cellsDown: "warn",
  failed: "warn",
  readOnly: "bad",
};

/** The health of the scheduler in one sentence, at the top of every page. */
export function HealthLine() {
  const { t } = useTranslation("health");
  const message = messageOf(useHealth());
  return (
    <span className={`health tone-${TONES[message.key]}`} role="status" aria-label={t("label")}>
      {t(message.key, { ...message })}
    </span>
  );
}

import { useTranslation } from "react-i18next";
import { sentence } from "./machine";
import { useHealth } from "./useHealth";

const TONES = {
  starting: "idle",
  healthy: "good",
  degraded: "warn",
  cellsDown: "warn",
  failed: "warn",
  readOnly: "bad",
};

/** How the scheduler does, in one sentence at the top of every page. */
export function HealthLine() {
  const { t } = useTranslation("health");
  const said = sentence(useHealth());
  return (
    <span className={`health tone-${TONES[said.key]}`} role="status" aria-label={t("label")}>
      {t(said.key, { ...said })}
    </span>
  );
}

import { useTranslation } from "react-i18next";
import type { FailureCauseView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

const TONES: Record<FailureCauseView["trend"], Tone> = { rising: "bad", steady: "idle", falling: "good" };
const ARROWS: Record<FailureCauseView["trend"], string> = { rising: "↗", steady: "→", falling: "↘" };

/** The last 24 hours beside the 24 hours before, as an arrow and a word. */
export function Trend({ trend }: { trend: FailureCauseView["trend"] }) {
  const { t } = useTranslation("triage");
  return (
    <span className={`toned tone-${TONES[trend]}`}>
      <span aria-hidden>{ARROWS[trend]}</span> {t(`trend.${trend}`)}
    </span>
  );
}

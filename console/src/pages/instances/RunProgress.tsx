import { Progress } from "antd";
import { useTranslation } from "react-i18next";
import type { ProgressView } from "../../api/generated/models";
import { Timestamp } from "../../parts/Timestamp";
import "./log.css";

/** How far the running attempt is, as its worker last reported it. */
export function RunProgress({ progress }: { progress: ProgressView }) {
  const { t } = useTranslation("logs");
  return (
    <div className="run-progress">
      <Progress percent={Math.floor(progress.percent)} size="small" aria-label={t("progress")} />
      <span>{progress.text}</span>{" "}
      <span className="soft">
        <Timestamp at={progress.at} relative />
      </span>
    </div>
  );
}

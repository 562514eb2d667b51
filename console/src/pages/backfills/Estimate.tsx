import { useTranslation } from "react-i18next";
import type { BackfillProgressView } from "../../api/generated/models";
import { secondsText } from "../../parts/times";

/** How many instances have ended, and how long the rest takes at the pace so far. */
export function Estimate({ progress, status }: { progress: BackfillProgressView; status: string }) {
  const { t } = useTranslation("backfills");
  const ended = t("progress.ended", { done: progress.done, total: progress.total });
  return (
    <div className="soft">
      {ended} {useLeftText(progress, status)}
    </div>
  );
}

function useLeftText(progress: BackfillProgressView, status: string): string {
  const { t } = useTranslation("backfills");
  const left = progress.left_s;
  if (status === "CANCELLED" || progress.done >= progress.total) return "";
  if (status === "PAUSED") return t("progress.paused");
  if (left === null || left === undefined) return t("progress.unknown");
  return t("progress.left", { length: secondsText(Math.ceil(left)) });
}

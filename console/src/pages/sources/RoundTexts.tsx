import { useTranslation } from "react-i18next";
import type { SourceRoundView, SourceView } from "../../api/generated/models";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { openCount, repairedCount, verdict } from "./counts";

/** The drift of a round: differences found, and differences repaired. */
export function Drift({ round }: { round: SourceRoundView | null }) {
  const { t } = useTranslation("sources");
  if (!round) return <span className="soft">{t("noRound")}</span>;
  const verdictName = verdict(round);
  if (verdictName === "none") return <span className="tone-good toned">{t("drift.none")}</span>;
  if (verdictName !== "found") return <span className="soft">{t(`drift.${verdictName}`)}</span>;
  return (
    <span className={openCount(round) > 0 ? "tone-warn toned" : "tone-good toned"}>
      {t("drift.found", { count: round.drift })} · {t("drift.repaired", { count: repairedCount(round) })}
    </span>
  );
}

/** A round: number, start and status. */
export function RoundMark({ round }: { round: SourceRoundView }) {
  const { t } = useTranslation("sources");
  return (
    <>
      {t(round.dry ? "round.named" : "round.name", { number: round.number })} ·{" "}
      <Timestamp at={round.began_at} relative /> <StateTag state={round.status} />
    </>
  );
}

/** The time of the next round of a source. */
export function NextRound({ source }: { source: SourceView }) {
  const { t } = useTranslation("sources");
  if (source.paused_at) return <StateTag state="PAUSED" />;
  if (source.running) return <>{t("next.running")}</>;
  if ((source.spec.origin as { kind: string }).kind === "push") return <>{t("next.pushed")}</>;
  return <Timestamp at={source.next_at} relative />;
}

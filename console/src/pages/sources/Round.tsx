import { useTranslation } from "react-i18next";
import type { RoundView, SourceView } from "../../api/generated/models";
import { Moment } from "../../parts/Moment";
import { StateTag } from "../../parts/StateTag";
import { open, repaired, verdict } from "./counts";

/** How a round found the tasks: what differed, and what of that is left. */
export function Drift({ round }: { round: RoundView | null }) {
  const { t } = useTranslation("sources");
  if (!round) return <span className="soft">{t("noRound")}</span>;
  const said = verdict(round);
  if (said === "none") return <span className="tone-good toned">{t("drift.none")}</span>;
  if (said !== "found") return <span className="soft">{t(`drift.${said}`)}</span>;
  return (
    <span className={open(round) > 0 ? "tone-warn toned" : "tone-good toned"}>
      {t("drift.found", { count: round.drift })} · {t("drift.repaired", { count: repaired(round) })}
    </span>
  );
}

/** A round by its number, when it began, and how it stands. */
export function RoundMark({ round }: { round: RoundView }) {
  const { t } = useTranslation("sources");
  return (
    <>
      {t(round.dry ? "round.named" : "round.name", { number: round.number })} ·{" "}
      <Moment at={round.began_at} relative /> <StateTag state={round.status} />
    </>
  );
}

/** When a source is asked next. */
export function Next({ source }: { source: SourceView }) {
  const { t } = useTranslation("sources");
  if (source.paused_at) return <StateTag state="PAUSED" />;
  if (source.running) return <>{t("next.running")}</>;
  if ((source.spec.origin as { kind: string }).kind === "push") return <>{t("next.pushed")}</>;
  return <Moment at={source.next_at} relative />;
}

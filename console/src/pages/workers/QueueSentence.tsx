import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { QueueView } from "../../api/generated/models";
import { totalsOf } from "./depths";

/** In one sentence: whether work waits that nobody takes, with links to those queues. */
export function QueueSentence({ queues }: { queues: QueueView[] }) {
  const { t } = useTranslation("workers");
  const totals = totalsOf(queues);
  if (totals.queues === 0) return null;
  const waiting = `${totals.waiting.toLocaleString()}${totals.more ? "+" : ""}`;
  if (totals.unattended.length === 0)
    return (
      <p className="sentence">
        {t(totals.waiting > 0 ? "queues.sentence.taken" : "queues.sentence.quiet", {
          waiting,
          queues: totals.queues,
        })}
      </p>
    );
  return (
    <p className="sentence tone-bad">
      <span className="toned">
        {t("queues.sentence.unattended", { count: totals.unattended.length, queues: totals.queues })}
      </span>{" "}
      {totals.unattended.slice(0, 5).map((queue, index) => (
        <span key={queue.name}>
          {index > 0 && ", "}
          <Link to="/workers" search={{ queue: queue.name }}>
            {queue.name}
          </Link>
        </span>
      ))}
      {totals.unattended.length > 5 && " …"}
    </p>
  );
}

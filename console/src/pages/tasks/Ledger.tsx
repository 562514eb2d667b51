import { useTranslation } from "react-i18next";
import type { TaskView } from "../../api/generated/models";
import { Principal } from "../../parts/Principal";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { dateTime } from "../../parts/times";
import { type TimelineEntry, timelineOf } from "./ledger-timeline";
import "./ledger.css";

/** The ledger of a key: each decision on one time scale, from the time of the decision to the requested time. */
export function Ledger({ one }: { one: TaskView }) {
  const { t } = useTranslation("tasks");
  const timeline = timelineOf(one.decisions, one.generation, Date.now());
  let before = 0;
  return (
    <>
      <p className="soft">{t("ledger.about")}</p>
      <div className="scale" aria-hidden>
        <span>{dateTime(new Date(timeline.begin))}</span>
        <span>{dateTime(new Date(timeline.end))}</span>
      </div>
      <ol className="ledger">
        {timeline.entries.map((entry) => {
          const begins = entry.generation !== before;
          before = entry.generation;
          return (
            <li
              key={`${entry.on} ${entry.decision}`}
              className={`tone-${entry.tone}`}
              data-decision={entry.decision}
            >
              {begins && (
                <div className="generation">{t("ledger.generation", { number: entry.generation })}</div>
              )}
              <DecisionText entry={entry} />
              <EntryTrack entry={entry} now={timeline.now} />
            </li>
          );
        })}
        <li data-decision="outcome">
          <div className="sentence">
            <strong>{one.live ? t("ledger.current") : t("ledger.outcome")}</strong>
            <StateTag state={one.live?.state ?? one.outcome ?? "INIT"} />
            {one.live && <Timestamp at={one.live.due_at} />}
          </div>
        </li>
      </ol>
    </>
  );
}

function DecisionText({ entry }: { entry: TimelineEntry }) {
  const { t } = useTranslation("tasks");
  return (
    <div className="sentence">
      <strong className="decision">{t(`decision.${entry.decision}`)}</strong>
      {entry.at && (
        <span className={entry.holds ? "" : "gone"}>
          {t("ledger.for")} <Timestamp at={entry.at} />
        </span>
      )}
      {entry.reason && <span>{t(`reason.${entry.reason}`)}</span>}
      <span className="soft">
        <Timestamp at={entry.on} /> · {entry.by && <Principal id={entry.by} />}
      </span>
    </div>
  );
}

/** A dot at the time of the decision, and a line to the requested time: hollow and dashed if it was superseded. */
function EntryTrack({ entry, now }: { entry: TimelineEntry; now: number }) {
  const from = `${pad(entry.from)}%`;
  const to = entry.to === null ? null : `${pad(entry.to)}%`;
  return (
    <svg className="track" height="26" width="100%" aria-hidden>
      <line x1="0" x2="100%" y1="13" y2="13" className="ground" />
      <line x1={`${pad(now)}%`} x2={`${pad(now)}%`} y1="0" y2="26" className="now" />
      {to && <line x1={from} x2={to} y1="13" y2="13" className={entry.holds ? "reach" : "reach broken"} />}
      <circle cx={from} cy="13" r="4" className="taken" />
      {to && <circle cx={to} cy="13" r="7" className={entry.holds ? "named" : "named hollow"} />}
      {entry.decision === "cancelled" && <circle cx={from} cy="13" r="7" className="named hollow" />}
    </svg>
  );
}

/** Leaves room at both ends, so that no mark is cut off. */
const pad = (part: number) => 2 + part * 0.96;

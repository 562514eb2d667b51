import { useTranslation } from "react-i18next";
import type { TaskView } from "../../api/generated/models";
import { Moment } from "../../parts/Moment";
import { StateTag } from "../../parts/StateTag";
import { dateTime } from "../../parts/times";
import { picture, type Stroke } from "./picture";
import "./ledger.css";

/** How a key came to its time: every decision on one stretch of time, from when it was taken to the time it named. */
export function Ledger({ one }: { one: TaskView }) {
  const { t } = useTranslation("tasks");
  const drawn = picture(one.decisions, one.generation, Date.now());
  let before = 0;
  return (
    <>
      <p className="soft">{t("ledger.about")}</p>
      <div className="scale" aria-hidden>
        <span>{dateTime(new Date(drawn.begin))}</span>
        <span>{dateTime(new Date(drawn.end))}</span>
      </div>
      <ol className="ledger">
        {drawn.strokes.map((stroke) => {
          const begins = stroke.generation !== before;
          before = stroke.generation;
          return (
            <li
              key={`${stroke.on} ${stroke.decision}`}
              className={`tone-${stroke.tone}`}
              data-decision={stroke.decision}
            >
              {begins && (
                <div className="generation">{t("ledger.generation", { number: stroke.generation })}</div>
              )}
              <Decision stroke={stroke} />
              <Track stroke={stroke} now={drawn.now} />
            </li>
          );
        })}
        <li data-decision="outcome">
          <div className="said">
            <strong>{one.live ? t("ledger.lives") : t("ledger.outcome")}</strong>
            <StateTag state={one.live?.state ?? one.outcome ?? "INIT"} />
            {one.live && <Moment at={one.live.due_at} />}
          </div>
        </li>
      </ol>
    </>
  );
}

function Decision({ stroke }: { stroke: Stroke }) {
  const { t } = useTranslation("tasks");
  return (
    <div className="said">
      <strong className="decision">{t(`decision.${stroke.decision}`)}</strong>
      {stroke.at && (
        <span className={stroke.holds ? "" : "gone"}>
          {t("ledger.for")} <Moment at={stroke.at} />
        </span>
      )}
      {stroke.reason && <span>{t(`reason.${stroke.reason}`)}</span>}
      <span className="soft">
        <Moment at={stroke.on} /> · {stroke.by}
      </span>
    </div>
  );
}

/** A dot where it was decided, a line to the time it named: hollow and broken where that no longer holds. */
function Track({ stroke, now }: { stroke: Stroke; now: number }) {
  const from = `${pad(stroke.from)}%`;
  const to = stroke.to === null ? null : `${pad(stroke.to)}%`;
  return (
    <svg className="track" height="26" width="100%" aria-hidden>
      <line x1="0" x2="100%" y1="13" y2="13" className="ground" />
      <line x1={`${pad(now)}%`} x2={`${pad(now)}%`} y1="0" y2="26" className="now" />
      {to && <line x1={from} x2={to} y1="13" y2="13" className={stroke.holds ? "reach" : "reach broken"} />}
      <circle cx={from} cy="13" r="4" className="taken" />
      {to && <circle cx={to} cy="13" r="7" className={stroke.holds ? "named" : "named hollow"} />}
      {stroke.decision === "cancelled" && <circle cx={from} cy="13" r="7" className="named hollow" />}
    </svg>
  );
}

/** Marks at the very ends are drawn whole. */
const pad = (part: number) => 2 + part * 0.96;

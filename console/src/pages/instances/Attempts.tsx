import { useTranslation } from "react-i18next";
import type { InstanceDetail } from "../../api/generated/models";
import { HoldLine } from "../../parts/HoldLine";
import { Json } from "../../parts/Json";
import { Moment } from "../../parts/Moment";
import { StateTag } from "../../parts/StateTag";
import { duration } from "../../parts/times";
import { type Tone, toneOf } from "../../parts/tones";
import { isLive } from "./sought";

/** What one try left behind. */
interface Attempt {
  attempt: number;
  status?: number;
  code?: string;
  duration_ms?: number;
  answer?: string;
}

/** From its time to its end, or to what is next: one line for every try, with how long it took and what came back. */
export function Attempts({ one }: { one: InstanceDetail }) {
  const { t } = useTranslation("instances");
  const tries = (one.attempts ?? []) as Attempt[];
  const longest = Math.max(1, ...tries.map((each) => each.duration_ms ?? 0));
  return (
    <ol className="attempts">
      <li className="tone-idle">
        <div className="head">
          <strong>{t("step.fire")}</strong> <Moment at={one.fire_time} />
        </div>
      </li>
      {tries.map((each) => (
        <li key={each.attempt} className={`tone-${tone(each)}`}>
          <Try each={each} longest={longest} />
        </li>
      ))}
      <li className={`tone-${toneOf(one.state)}`}>
        <div className="head">
          <StateTag state={one.state} />
          {one.reason && <span>{one.reason}</span>}
          <span>
            {isLive(one.state) ? t(isOverdue(one) ? "next.overdue" : `next.${one.state as "INIT"}`) : null}{" "}
            <Moment at={isWaiting(one) ? one.due_at : one.changed_at} />
          </span>
        </div>
        {one.held && <HoldLine hold={one.held} />}
      </li>
    </ol>
  );
}

const isWaiting = (one: InstanceDetail) => one.state === "INIT" || one.state === "FAIL";

/** It could have been tried by now: a time that has passed is no next attempt. Only what is due is held, whatever the
 * clock of this machine says. */
const isOverdue = (one: InstanceDetail) =>
  isWaiting(one) && (one.held !== null || Date.parse(one.due_at) <= Date.now());

function Try({ each, longest }: { each: Attempt; longest: number }) {
  const { t } = useTranslation("instances");
  const label = t("step.attempt", { number: each.attempt });
  return (
    <>
      <div className="head">
        <strong>{label}</strong>
        {each.status !== undefined && <span>HTTP {each.status}</span>}
        {each.code && <code>{each.code}</code>}
        {each.duration_ms !== undefined && (
          <>
            <Bar part={each.duration_ms / longest} />
            <span>{duration(each.duration_ms)}</span>
          </>
        )}
      </div>
      {each.answer && <Json value={each.answer} label={t("answer", { number: each.attempt })} />}
    </>
  );
}

/** How long it took beside the longest. */
function Bar({ part }: { part: number }) {
  return (
    <svg className="bar" width="160" height="8" aria-hidden>
      <rect className="whole" width="160" height="8" rx="2" />
      <rect className="part" width={Math.max(2, part * 160)} height="8" rx="2" />
    </svg>
  );
}

function tone(each: Attempt): Tone {
  if (each.code) return "bad";
  return each.status === undefined || each.status < 300 ? "good" : "bad";
}

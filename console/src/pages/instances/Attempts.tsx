import { useTranslation } from "react-i18next";
import type { AttemptView, InstanceDetail } from "../../api/generated/models";
import { useIsPermitted } from "../../app/permissions";
import { HoldLine } from "../../parts/HoldLine";
import { Json } from "../../parts/Json";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { duration } from "../../parts/times";
import { type Tone, toneOf } from "../../parts/tones";
import { isLive } from "./filters";
import { RunProgress } from "./RunProgress";
import "./instances.css";

/** The timeline of an instance: fire time, each attempt with duration and response, and the current state. */
export function Attempts({ one }: { one: InstanceDetail }) {
  const { t } = useTranslation(["instances", "logs"]);
  const tries = one.attempts ?? [];
  const longest = Math.max(1, ...tries.map((each) => each.duration_ms ?? 0));
  const answersHidden = !useIsPermitted("payloads.read") && tries.some((each) => isKnown(each.status));
  return (
    <>
      <ol className="attempts">
        <li className="tone-idle">
          <div className="head">
            <strong>{t("step.fire")}</strong> <Timestamp at={one.fire_time} />
          </div>
        </li>
        {tries.map((each) => (
          <li key={each.attempt} className={`tone-${toneOfAttempt(each)}`}>
            <AttemptRow each={each} longest={longest} />
          </li>
        ))}
        <li className={`tone-${toneOf(one.state)}`}>
          <div className="head">
            <StateTag state={one.state} />
            {one.reason && <span>{one.reason}</span>}
            <span>
              {isLive(one.state) ? t(isOverdue(one) ? "next.overdue" : `next.${one.state as "INIT"}`) : null}{" "}
              <Timestamp at={isWaiting(one) ? one.due_at : one.changed_at} />
            </span>
          </div>
          {one.state === "RUNNING" && (
            <div className="made-by">
              <span>{t("step.attempt", { number: one.attempt })}</span>
              {one.worker_id && <span>{t("byWorker", { worker: one.worker_id })}</span>}
            </div>
          )}
          {one.progress && <RunProgress progress={one.progress} />}
          {one.held && <HoldLine hold={one.held} />}
        </li>
      </ol>
      {answersHidden && <p className="soft">{t("logs:answersHidden")}</p>}
    </>
  );
}

const isWaiting = (one: InstanceDetail) => one.state === "INIT" || one.state === "FAIL";

/** Whether the next attempt is overdue. A held instance is due, even if the clock of this machine says otherwise. */
const isOverdue = (one: InstanceDetail) =>
  isWaiting(one) && (one.held !== null || Date.parse(one.due_at) <= Date.now());

function AttemptRow({ each, longest }: { each: AttemptView; longest: number }) {
  const { t } = useTranslation(["instances", "logs"]);
  const label = t("step.attempt", { number: each.attempt });
  return (
    <>
      <div className="head">
        <strong>{label}</strong>
        {each.started_at && <Timestamp at={each.started_at} />}
        {each.ended_at && (
          <span className="soft">
            {t("logs:until")} <Timestamp at={each.ended_at} />
          </span>
        )}
        {isKnown(each.status) && <span>HTTP {each.status}</span>}
        {each.code && <code>{each.code}</code>}
        {isKnown(each.duration_ms) && (
          <>
            <Bar part={each.duration_ms / longest} />
            <span>{duration(each.duration_ms)}</span>
          </>
        )}
      </div>
      <div className="made-by">
        {each.node && <span>{t("byNode", { node: each.node })}</span>}
        {each.worker_id && <span>{t("byWorker", { worker: each.worker_id })}</span>}
        {each.request && <code>{each.request}</code>}
      </div>
      {each.answer && <Json value={each.answer} label={t("answer", { number: each.attempt })} />}
    </>
  );
}

/** A bar: the duration relative to the longest attempt. */
function Bar({ part }: { part: number }) {
  return (
    <svg className="bar" width="160" height="8" aria-hidden>
      <rect className="whole" width="160" height="8" rx="2" />
      <rect className="part" width={Math.max(2, part * 160)} height="8" rx="2" />
    </svg>
  );
}

function toneOfAttempt(each: AttemptView): Tone {
  if (each.code) return "bad";
  return !isKnown(each.status) || each.status < 300 ? "good" : "bad";
}

const isKnown = (value: number | null | undefined): value is number => typeof value === "number";

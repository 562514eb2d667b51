import { Checkbox } from "antd";
import { useContext, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { LogLineView } from "../../api/generated/models";
import { useIsPermitted } from "../../app/permissions";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { JobZone } from "../../parts/Timestamp";
import { dateTime, markedTime, myZone, zoneMark } from "../../parts/times";
import { displayZone } from "../../parts/zone";
import { isAtEnd, isMark, keyOf, type LogLines, toneOfLevel } from "./log-lines";
import { useLogTail } from "./useLogTail";
import "./log.css";

/** The log of an instance, followed as it is written. Who may not read payloads is shown why there is none. */
export function LogCard({ instance }: { instance: string }) {
  const { t } = useTranslation("logs");
  return (
    <Card title={t("title")} id="log">
      {useIsPermitted("payloads.read") ? (
        <Log instance={instance} />
      ) : (
        <p className="soft">{t("notPermitted")}</p>
      )}
    </Card>
  );
}

function Log({ instance }: { instance: string }) {
  const { t } = useTranslation("logs");
  const [retries, setRetries] = useState(0);
  const [follows, setFollows] = useState(true);
  const { log, error } = useLogTail(instance, retries);
  return (
    <>
      <p className="log-head">
        <span>
          <LogStatus log={log} broken={error !== null} /> <ZoneOfLines lines={log.lines} />
        </span>
        {log.lines.length > 0 && !log.isEnded && (
          <Checkbox checked={follows} onChange={(event) => setFollows(event.target.checked)}>
            {t("follow")}
          </Checkbox>
        )}
      </p>
      {error !== null && <ErrorMessage error={error} onRetry={() => setRetries((count) => count + 1)} />}
      {log.lines.length > 0 && <LogBox log={log} follows={follows} onFollow={setFollows} />}
    </>
  );
}

function LogStatus({ log, broken }: { log: LogLines; broken: boolean }) {
  const { t } = useTranslation("logs");
  const count = log.lines.length + log.dropped;
  if (log.isEnded) return <span className="soft">{count > 0 ? t("ended", { count }) : t("none")}</span>;
  if (broken) return <span className="toned tone-warn">{t("broken")}</span>;
  return <span className="toned tone-busy">{count > 0 ? t("live", { count }) : t("waiting")}</span>;
}

/** The zone of all the times in the log, said once: a line has room for its time alone. */
function ZoneOfLines({ lines }: { lines: LogLineView[] }) {
  const zone = displayZone(useContext(JobZone));
  const at = lines.findLast((line) => line.at)?.at;
  return at ? <span className="zone-mark">{zoneMark(at, zone)}</span> : null;
}

function LogBox({ log, follows, onFollow }: LogBoxProps) {
  const { t } = useTranslation("logs");
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new line scrolls the box
  useEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [log.lines, follows]);
  return (
    <div
      ref={box}
      className="log"
      role="log"
      aria-label={t("title")}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
      tabIndex={0}
      onScroll={(event) => !log.isEnded && onFollow(isAtEnd(event.currentTarget))}
    >
      {log.dropped > 0 && <p className="log-mark">{t("droppedHere", { count: log.dropped })}</p>}
      {log.lines.map((line, index) => (
        <div key={keyOf(line)}>
          {line.attempt !== log.lines[index - 1]?.attempt && (
            <p className="log-attempt">{t("attempt", { number: line.attempt })}</p>
          )}
          <Line line={line} />
        </div>
      ))}
    </div>
  );
}

interface LogBoxProps {
  log: LogLines;
  follows: boolean;
  onFollow: (follows: boolean) => void;
}

function Line({ line }: { line: LogLineView }) {
  const { t } = useTranslation("logs");
  const zone = displayZone(useContext(JobZone));
  if (isMark(line)) return <p className="log-mark">{t("dropped", { count: line.dropped ?? 0 })}</p>;
  return (
    <p className={`log-line tone-${toneOfLevel(line.level)}`}>
      {line.at && (
        <time dateTime={line.at} title={`${markedTime(line.at, myZone())} ${myZone()}`}>
          {dateTime(line.at, zone).slice(11)}
        </time>
      )}
      {line.level && <span className="log-level">{line.level}</span>}
      <span className="log-text">{line.text}</span>
    </p>
  );
}

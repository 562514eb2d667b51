import { createContext, useContext } from "react";
import { useTranslation } from "react-i18next";
import { ago, dateTime, markedTime, myZone, zoneMark } from "./times";
import { displayZone } from "./zone";

/** The zone of the job that a page is about, for all of its times. */
export const JobZone = createContext<string | undefined>(undefined);

/**
 * An instant with the mark of its zone: the given one, or that of the switch. `jobZone` is the zone of the job, for the
 * setting "the job's"; on a page about one job, `JobZone` gives it. The title has the reader's local time.
 */
export function Timestamp({ at, zone, jobZone, relative }: TimestampProps) {
  const { t, i18n } = useTranslation("frame");
  const pageZone = useContext(JobZone);
  if (!at) return <span className="soft">{t("time.never")}</span>;
  const place = zone ?? displayZone(jobZone ?? pageZone);
  const title = `${markedTime(at, myZone())} ${myZone()}`;
  return (
    <time dateTime={at} title={title}>
      {relative ? (
        ago(at, Date.now(), i18n.language)
      ) : (
        <>
          {dateTime(at, place)} <span className="zone-mark">{zoneMark(at, place)}</span>
        </>
      )}
    </time>
  );
}

interface TimestampProps {
  at: string | null | undefined;
  zone?: string;
  jobZone?: string;
  relative?: boolean;
}

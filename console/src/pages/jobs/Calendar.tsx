import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobPreview } from "../../api/generated/client";
import type { ComingFire, JobView } from "../../api/generated/models";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { dateTime, myZone, weekday } from "../../parts/times";
import { OccurrenceDialog } from "./actions/OccurrenceDialog";
import { addMonths, calendarDays, type Day } from "./month";
import { zoneOf } from "./zone-of";

const MAX_FIRES = 500;
const MAX_FIRES_PER_DAY = 4;
const REFRESH_MS = 60_000;

/** The next fires on a calendar in the time zone of the job; each can be skipped, moved or restored. */
export function Calendar({ job }: { job: JobView }) {
  const { t, i18n } = useTranslation("jobs");
  const zone = zoneOf(job) ?? myZone();
  const navigate = useNavigate();
  const query = useQuery({
    queryKey: ["job", job.name, "fires"],
    queryFn: ({ signal }) => getJobPreview(job.name, { many: MAX_FIRES }, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const today = dateTime(new Date(), zone).slice(0, 10);
  const name = useSearch({ from: "/jobs/$job" }).month ?? today.slice(0, 7);
  const fires = query.data?.fires ?? [];
  const [chosen, setChosen] = useState<ComingFire | null>(null);
  const days = calendarDays(name, fires, zone);
  const last = fires.length === MAX_FIRES ? fires.at(-1)?.fire_time : undefined;
  const showMonth = (by: number) =>
    navigate({
      to: "/jobs/$job",
      params: { job: job.name },
      search: { view: "calendar", month: addMonths(name, by) },
    });
  return (
    <Card title={t("calendar.title", { month: name, zone })}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      <div className="turn">
        <Button onClick={() => showMonth(-1)} disabled={name <= today.slice(0, 7)}>
          {t("calendar.before")}
        </Button>
        <Button onClick={() => showMonth(1)}>{t("calendar.after")}</Button>
        {last && (
          <span className="soft">{t("calendar.until", { many: MAX_FIRES, at: dateTime(last, zone) })}</span>
        )}
      </div>
      <table className="month">
        <caption className="unseen">{t("calendar.title", { month: name, zone })}</caption>
        <thead>
          <tr>
            {days.slice(0, 7).map((day) => (
              <th key={day.date} scope="col">
                {weekday(`${day.date}T12:00:00Z`, i18n.language, "UTC")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(days).map((week) => (
            <tr key={week[0]?.date}>
              {week.map((day) => (
                <td key={day.date} className={day.inside ? (day.date === today ? "today" : "") : "outside"}>
                  <span className="date">{Number(day.date.slice(8))}</span>
                  <DayFires day={day} zone={zone} onChoose={setChosen} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {chosen && <OccurrenceDialog job={job} fire={chosen} zone={zone} onClose={() => setChosen(null)} />}
    </Card>
  );
}

function DayFires({ day, zone, onChoose }: { day: Day; zone: string; onChoose: (fire: ComingFire) => void }) {
  const { t } = useTranslation("jobs");
  return (
    <>
      {day.fires.slice(0, MAX_FIRES_PER_DAY).map((fire) => (
        <button
          key={fire.fire_time}
          type="button"
          className={fire.skipped ? "fire skipped" : "fire"}
          onClick={() => onChoose(fire)}
        >
          {dateTime(fire.fire_time, zone).slice(11, fire.fire_time.slice(17, 19) === "00" ? 16 : 19)}
          {fire.skipped && <span className="unseen"> {t("calendar.skipped")}</span>}
        </button>
      ))}
      {day.fires.length > MAX_FIRES_PER_DAY && (
        <span className="soft">{t("calendar.more", { count: day.fires.length - MAX_FIRES_PER_DAY })}</span>
      )}
    </>
  );
}

function weeksOf(days: Day[]): Day[][] {
  return Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
}

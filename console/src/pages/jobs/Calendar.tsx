import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobPreview } from "../../api/generated/client";
import type { ComingFire, JobView } from "../../api/generated/models";
import { Card } from "../../parts/Page";
import { Trouble } from "../../parts/Trouble";
import { dateTime, myZone, weekday } from "../../parts/times";
import { Occurrence } from "./acts/Occurrence";
import { zoneOf } from "./Facts";
import { type Day, month, turned } from "./month";

const MANY = 500;
const SHOWN = 4;
const MINUTE = 60_000;

/** The coming fires on the days of the job's zone; each can be skipped, moved or restored from here. */
export function Calendar({ job }: { job: JobView }) {
  const { t, i18n } = useTranslation("jobs");
  const zone = zoneOf(job) ?? myZone();
  const navigate = useNavigate();
  const asked = useQuery({
    queryKey: ["job", job.name, "fires"],
    queryFn: ({ signal }) => getJobPreview(job.name, { many: MANY }, { signal }),
    refetchInterval: MINUTE,
  });
  const today = dateTime(new Date(), zone).slice(0, 10);
  const name = useSearch({ from: "/jobs/$job" }).month ?? today.slice(0, 7);
  const fires = asked.data?.fires ?? [];
  const [chosen, setChosen] = useState<ComingFire | null>(null);
  const days = month(name, fires, zone);
  const last = fires.length === MANY ? fires.at(-1)?.fire_time : undefined;
  const turn = (by: number) =>
    navigate({
      to: "/jobs/$job",
      params: { job: job.name },
      search: { view: "calendar", month: turned(name, by) },
    });
  return (
    <Card title={t("calendar.title", { month: name, zone })}>
      {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
      <div className="turn">
        <Button onClick={() => turn(-1)} disabled={name <= today.slice(0, 7)}>
          {t("calendar.before")}
        </Button>
        <Button onClick={() => turn(1)}>{t("calendar.after")}</Button>
        {last && (
          <span className="soft">{t("calendar.until", { many: MANY, at: dateTime(last, zone) })}</span>
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
          {weeks(days).map((week) => (
            <tr key={week[0]?.date}>
              {week.map((day) => (
                <td key={day.date} className={day.inside ? (day.date === today ? "today" : "") : "outside"}>
                  <span className="date">{Number(day.date.slice(8))}</span>
                  <OnDay day={day} zone={zone} choose={setChosen} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {chosen && <Occurrence job={job} fire={chosen} zone={zone} onClose={() => setChosen(null)} />}
    </Card>
  );
}

function OnDay({ day, zone, choose }: { day: Day; zone: string; choose: (fire: ComingFire) => void }) {
  const { t } = useTranslation("jobs");
  return (
    <>
      {day.fires.slice(0, SHOWN).map((fire) => (
        <button
          key={fire.fire_time}
          type="button"
          className={fire.skipped ? "fire skipped" : "fire"}
          onClick={() => choose(fire)}
        >
          {dateTime(fire.fire_time, zone).slice(11, fire.fire_time.slice(17, 19) === "00" ? 16 : 19)}
          {fire.skipped && <span className="unseen"> {t("calendar.skipped")}</span>}
        </button>
      ))}
      {day.fires.length > SHOWN && (
        <span className="soft">{t("calendar.more", { count: day.fires.length - SHOWN })}</span>
      )}
    </>
  );
}

function weeks(days: Day[]): Day[][] {
  return Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
}

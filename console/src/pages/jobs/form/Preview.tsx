import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { postPreview } from "../../../api/generated/client";
import type { JobView } from "../../../api/generated/models";
import { ErrorMessage } from "../../../parts/ErrorMessage";
import { Card } from "../../../parts/Page";
import { dateTime } from "../../../parts/times";
import { Fires } from "../Fires";
import { zoneOf } from "../zone-of";
import { clockChanges } from "./clock-changes";
import { type Draft, specOf } from "./draft";
import { ForecastEffect } from "./ForecastEffect";
import { schedulePart, useDebounced } from "./schedule-part";

/** A preview of the schedule before the job is saved: sentence, dialect, fires and clock changes. */
export function Preview({ draft, base }: { draft: Draft; base?: JobView }) {
  const { t } = useTranslation("jobs");
  const debounced = useDebounced(schedulePart(draft));
  const query = useQuery({
    queryKey: ["preview", debounced],
    queryFn: ({ signal }) => postPreview(specOf(JSON.parse(debounced) as Draft, base), { signal }),
    enabled: draft.kind !== "once" || draft.at !== "", // without a time there is nothing to preview
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  });
  return (
    <Card title={t("preview.title")}>
      <div aria-live="polite">
        {query.error ? (
          <ErrorMessage error={query.error} />
        ) : (
          query.data && <SchedulePreview job={query.data} kind={draft.kind} />
        )}
      </div>
      <ForecastEffect draft={draft} base={base} />
    </Card>
  );
}

function SchedulePreview({ job, kind }: { job: JobView; kind: Draft["kind"] }) {
  const { t, i18n } = useTranslation("jobs");
  const sentence = i18n.language === "zh-CN" ? job.schedule?.chinese : job.schedule?.english;
  const fires = job.schedule?.fires ?? [];
  const zone = zoneOf(job);
  return (
    <>
      {sentence && <p className="sentence">{sentence}</p>}
      {job.trigger.kind === "cron" && (
        <p>
          {t("preview.dialect")} <strong>{job.trigger.dialect}</strong>{" "}
          <span className="soft">{t(`dialect.${job.trigger.dialect as "unix5"}`)}</span>
        </p>
      )}
      {fires.length > 0 && <Fires fires={fires} zone={zone} />}
      {fires.length === 0 && (
        <p className="soft">{t(kind === "keyed" || kind === "rolling" ? `fires.${kind}` : "preview.none")}</p>
      )}
      {zone && job.trigger.kind === "cron" && <ClockChangeNotes zone={zone} trigger={job.trigger} />}
    </>
  );
}

type CronTrigger = Extract<JobView["trigger"], { kind: "cron" }>;

/** The next clock changes of a zone and their effect on the fires; nothing for a zone without changes. */
function ClockChangeNotes({ zone, trigger }: { zone: string; trigger: CronTrigger }) {
  const { t } = useTranslation("jobs");
  const changes = clockChanges(zone, Date.now()).slice(0, 2);
  if (changes.length === 0) return null;
  return (
    <ul className="notes">
      {changes.map((one) => (
        <li key={one.at}>
          {t(one.forward ? "preview.forward" : "preview.backward", {
            ...one,
            zone,
            at: dateTime(one.at, zone),
          })}{" "}
          {one.forward
            ? t(`dstGap.${trigger.dst_gap ?? "fire_after"}`)
            : t(`dstOverlap.${trigger.dst_overlap ?? "first"}`)}
        </li>
      ))}
    </ul>
  );
}

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { postPreview } from "../../../api/generated/client";
import type { JobView } from "../../../api/generated/models";
import { Card } from "../../../parts/Page";
import { Trouble } from "../../../parts/Trouble";
import { dateTime } from "../../../parts/times";
import { zoneOf } from "../Facts";
import { Fires } from "../Fires";
import { NO_ACCESS } from "./access";
import { clockChanges } from "./clock-changes";
import { type Draft, specOf } from "./draft";

const PAUSE_MS = 600;

/** What would be understood, said before anything is made: the sentence, the dialect, the fires, the clock changes. */
export function Preview({ draft, base }: { draft: Draft; base?: JobView }) {
  const { t } = useTranslation("jobs");
  const settled = useSettled(schedulePart(draft));
  const asked = useQuery({
    queryKey: ["preview", settled],
    queryFn: ({ signal }) => postPreview(specOf(JSON.parse(settled) as Draft, base), { signal }),
    enabled: draft.kind !== "once" || draft.at !== "", // there is nothing to say of a time that is not chosen yet
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  });
  return (
    <Card title={t("preview.title")}>
      <div aria-live="polite">
        {asked.error ? (
          <Trouble error={asked.error} />
        ) : (
          asked.data && <Understood job={asked.data} kind={draft.kind} />
        )}
      </div>
    </Card>
  );
}

/** Only what decides about the fires is asked about, so that typing elsewhere asks nothing. */
function schedulePart(draft: Draft): string {
  const { name, kind, expression, dialect, zone, gap, twice, every, at, seconds } = draft;
  const rest = { target: "queue", queue: "", url: "", headers: "", labels: "", payload: "" };
  const { onlyOn, neverOn } = draft;
  return JSON.stringify({
    ...draft,
    ...rest,
    ...NO_ACCESS,
    onlyOn,
    neverOn,
    name: name || "job",
    kind,
    expression,
    dialect,
    zone,
    gap,
    twice,
    every,
    at,
    seconds,
  });
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function Understood({ job, kind }: { job: JobView; kind: Draft["kind"] }) {
  const { t, i18n } = useTranslation("jobs");
  const said = i18n.language === "zh-CN" ? job.schedule?.chinese : job.schedule?.english;
  const fires = job.schedule?.fires ?? [];
  const zone = zoneOf(job);
  return (
    <>
      {said && <p className="said">{said}</p>}
      {job.trigger.kind === "cron" && (
        <p>
          {t("preview.dialect")} <strong>{String(job.trigger.dialect)}</strong>{" "}
          <span className="soft">{t(`dialect.${job.trigger.dialect as "unix5"}`)}</span>
        </p>
      )}
      {fires.length > 0 && <Fires fires={fires} zone={zone} />}
      {fires.length === 0 && (
        <p className="soft">{t(kind === "keyed" || kind === "rolling" ? `fires.${kind}` : "preview.none")}</p>
      )}
      {zone && <ClockNotes zone={zone} trigger={job.trigger} />}
    </>
  );
}

function ClockNotes({ zone, trigger }: { zone: string; trigger: Record<string, unknown> }) {
  const { t } = useTranslation("jobs");
  const changes = clockChanges(zone, Date.now()).slice(0, 2);
  if (changes.length === 0) return <p className="soft">{t("preview.noDst", { zone })}</p>;
  return (
    <ul className="notes">
      {changes.map((one) => (
        <li key={one.at}>
          {t(one.forward ? "preview.forward" : "preview.backward", {
            ...one,
            zone,
            at: dateTime(one.at, zone),
          })}{" "}
          {one.forward ? t(`gap.${trigger.dst_gap as "skip"}`) : t(`twice.${trigger.dst_overlap as "first"}`)}
        </li>
      ))}
    </ul>
  );
}

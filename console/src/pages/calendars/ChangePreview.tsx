import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { postCalendarPreview } from "../../api/generated/client";
import type { CalendarEffectView, CalendarPreviewView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { bodyOf, type Draft } from "./days";

const JOBS_PER_REQUEST = 20;
const MAX_LISTED = 5;

/** Asks which coming fires a change adds and removes, some jobs at a time. */
export function useChangePreview(calendar: string, draft: Draft | null, days: number) {
  return useInfiniteQuery({
    queryKey: ["calendar", calendar, "preview", draft, days],
    queryFn: ({ pageParam, signal }) =>
      postCalendarPreview(
        calendar,
        { ...bodyOf(draft as Draft), days, after: pageParam, limit: JOBS_PER_REQUEST },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: (page: CalendarPreviewView) => page.next ?? undefined,
    enabled: draft !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

export type ChangePreviewQuery = ReturnType<typeof useChangePreview>;

/** What a change does in sum, as far as it was computed. */
export interface Totals {
  jobs: number;
  changed: number;
  added: number;
  removed: number;
  /** Whether a job has more changed fires than are listed, so that the sums are too low. */
  isCut: boolean;
}

export function totalsOf(effects: CalendarEffectView[], until: string | undefined): Totals {
  const sum = (times: (effect: CalendarEffectView) => string[] | undefined) =>
    effects.reduce((total, effect) => total + (times(effect)?.length ?? 0), 0);
  const isChanged = (effect: CalendarEffectView) =>
    effect.added?.length || effect.removed?.length || effect.next_before !== effect.next_after;
  return {
    jobs: effects.length,
    changed: effects.filter(isChanged).length,
    added: sum((effect) => effect.added),
    removed: sum((effect) => effect.removed),
    isCut: effects.some((effect) => isCutBefore(effect, until)),
  };
}

/** Whether a job was compared only up to a time before the end of the preview. */
const isCutBefore = (effect: CalendarEffectView, until: string | undefined): boolean =>
  Boolean(effect.until && until && effect.until < until);

/** What a change would do to each job, and how far that was computed. */
export function ChangePreview({ query }: { query: ChangePreviewQuery }) {
  const { t } = useTranslation("calendars");
  const pages = query.data?.pages;
  const effects = pages?.flatMap((page) => page.jobs);
  const until = pages?.[0]?.until;
  const columns = useColumns(until);
  const totals = effects && totalsOf(effects, until);
  if (query.error) return <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <>
      {totals && (
        <p role="status">
          {t("preview.sum", { ...totals })} {totals.isCut && t("preview.cut")}{" "}
          {query.hasNextPage && t("preview.partial")}
        </p>
      )}
      <DataTable<CalendarEffectView>
        caption={t("preview.title")}
        columns={columns}
        items={effects}
        id={(effect) => effect.job_id}
        empty={<p className="soft">{t("preview.nobody")}</p>}
      />
      {query.hasNextPage && (
        <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t("preview.more", { count: JOBS_PER_REQUEST })}
        </Button>
      )}
    </>
  );
}

function useColumns(until: string | undefined): Column<CalendarEffectView>[] {
  const { t } = useTranslation("calendars");
  return [
    {
      title: t("jobs.job"),
      show: (effect) => (
        <>
          <Link to="/jobs/$job" params={{ job: effect.job }}>
            {effect.job}
          </Link>{" "}
          {effect.status === "PAUSED" && <StateTag state={effect.status} />}
        </>
      ),
    },
    { title: t("jobs.owner"), show: (effect) => effect.owner ?? "" },
    { title: t("preview.next"), show: (effect) => <NextFire effect={effect} /> },
    {
      title: t("preview.removed"),
      show: (effect) => <Times times={effect.removed} sign="−" effect={effect} until={until} />,
    },
    {
      title: t("preview.added"),
      show: (effect) => <Times times={effect.added} sign="+" effect={effect} until={until} />,
    },
  ];
}

/** The next fire, and where it moves to. */
function NextFire({ effect }: { effect: CalendarEffectView }) {
  const { t } = useTranslation("calendars");
  if (!effect.until) return <span className="soft">{t("preview.noSchedule")}</span>;
  if (effect.next_before === effect.next_after) return <Timestamp at={effect.next_before} />;
  return (
    <>
      <Timestamp at={effect.next_before} /> → <Timestamp at={effect.next_after} />{" "}
      <span className="state tone-warn">{t("preview.moves")}</span>
    </>
  );
}

function Times({ times = [], sign, effect, until }: TimesProps) {
  const { t } = useTranslation("calendars");
  const isCut = isCutBefore(effect, until);
  if (times.length === 0) return <span className="soft">{t("preview.none")}</span>;
  return (
    <>
      {sign}
      {times.length}
      {isCut && "+"}
      <ul className="effect-times">
        {times.slice(0, MAX_LISTED).map((at) => (
          <li key={at}>
            <Timestamp at={at} />
          </li>
        ))}
        {times.length > MAX_LISTED && <li>{t("preview.others", { count: times.length - MAX_LISTED })}</li>}
      </ul>
      {isCut && (
        <span className="soft">
          {t("preview.until")} <Timestamp at={effect.until} />
        </span>
      )}
    </>
  );
}

interface TimesProps {
  times?: string[];
  sign: string;
  effect: CalendarEffectView;
  until: string | undefined;
}

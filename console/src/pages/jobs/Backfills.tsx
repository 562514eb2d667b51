import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Progress } from "antd";
import { useTranslation } from "react-i18next";
import {
  getBackfill,
  getJobBackfills,
  postBackfillCancel,
  postBackfillPause,
  postBackfillResume,
} from "../../api/generated/client";
import type { BackfillView, JobView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { Principal } from "../../parts/Principal";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import type { State } from "../../parts/tones";
import { BackfillActions } from "../backfills/BackfillActions";
import { Estimate } from "../backfills/Estimate";

const REFRESH_MS = 5_000;
const CHANGES = { pause: postBackfillPause, resume: postBackfillResume, cancel: postBackfillCancel };

/** The backfills of a job, newest first, each with its progress. */
export function Backfills({ job }: { job: JobView }) {
  const { t } = useTranslation(["jobs", "backfills"]);
  const query = useQuery({
    queryKey: ["job", job.name, "backfills"],
    queryFn: ({ signal }) => getJobBackfills(job.name, { limit: 20 }, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const columns: Column<BackfillView>[] = [
    {
      title: t("backfill.range"),
      show: (one) => (
        <>
          <Timestamp at={one.since} /> – <Timestamp at={one.until} />
          <BackfillKind backfill={one} />
        </>
      ),
    },
    { title: t("list.status"), kind: "tight", show: (one) => <StateTag state={one.status} /> },
    { title: t("backfill.progress"), show: (one) => <BackfillProgress backfill={one} /> },
    { title: t("backfill.by"), show: (one) => <Principal id={one.created_by} /> },
    {
      title: t("backfill.actions"),
      kind: "tight",
      show: (one) => (
        <BackfillActions
          status={one.status}
          resource="backfills"
          onChange={(change) => CHANGES[change](one.id)}
        />
      ),
    },
  ];
  return (
    <Card title={t("view.backfills")}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      <DataTable
        caption={t("view.backfills")}
        columns={columns}
        items={query.data?.items}
        id={(one) => one.id}
        empty={
          <EmptyState
            title={t("backfill.none")}
            help={t("backfill.emptyHelp")}
            line={`horae backfill start ${job.name} --since 2026-11-14T00:00:00Z --until 2026-11-15T00:00:00Z --key once-1`}
          />
        }
      />
      <p>
        <Link to="/backfill-groups">{t("backfills:group.link")}</Link>
      </p>
    </Card>
  );
}

/** Which fires run, in which order, at which rate, and the group that it belongs to. */
function BackfillKind({ backfill }: { backfill: BackfillView }) {
  const { t } = useTranslation("backfills");
  const texts = [
    t(`mode.${backfill.mode}`),
    t(backfill.newest_first ? "order.newest" : "order.oldest"),
    backfill.rate ? t("rate.of", { rate: backfill.rate }) : "",
  ];
  return (
    <>
      <div className="soft">{texts.filter(Boolean).join(" · ")}</div>
      {backfill.group_id && (
        <Link to="/backfill-groups/$group" params={{ group: backfill.group_id }}>
          {t("group.title")}
        </Link>
      )}
    </>
  );
}

/** The progress of a backfill. Its detail also counts the instances by state. */
function BackfillProgress({ backfill }: { backfill: BackfillView }) {
  const { t } = useTranslation(["jobs", "states"]);
  const detail = useQuery({
    queryKey: ["backfill", backfill.id, backfill.status],
    queryFn: ({ signal }) => getBackfill(backfill.id, { signal }),
    refetchInterval: (query) => (isUnfinished(query.state.data ?? backfill) ? REFRESH_MS : false),
  });
  const one = detail.data ?? backfill;
  const made = one.born + one.already;
  const percent = one.planned === 0 ? 100 : Math.floor((100 * made) / one.planned);
  const ended = Object.entries(one.ended ?? {})
    .map(([state, count]) => `${t(`states:${state as State}`)} ${count}`)
    .join(" · ");
  return (
    <div className="progress">
      <Progress percent={percent} size="small" aria-label={t("backfill.progress")} />
      <span>
        {t("backfill.summary", {
          made,
          planned: one.planned,
          already: one.already,
          waiting: one.waiting ?? 0,
        })}
      </span>
      {ended && <div className="soft">{ended}</div>}
      {one.progress && <Estimate progress={one.progress} status={one.status} />}
    </div>
  );
}

function isUnfinished(one: BackfillView): boolean {
  return one.status === "RUNNING" || (one.waiting ?? 0) > 0;
}

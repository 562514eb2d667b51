import { useQuery } from "@tanstack/react-query";
import { Progress } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getBackfill, getJobBackfills, postBackfillCancel } from "../../api/generated/client";
import type { BackfillView, JobView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Empty } from "../../parts/Empty";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import { type Column, Rows } from "../../parts/Rows";
import { StateTag } from "../../parts/StateTag";
import { Trouble } from "../../parts/Trouble";
import type { State } from "../../parts/tones";

const FIVE_SECONDS = 5_000;

/** A job's backfills, newest first, each with how far it is. */
export function Backfills({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  const [cancelling, setCancelling] = useState<BackfillView | null>(null);
  const asked = useQuery({
    queryKey: ["job", job.name, "backfills"],
    queryFn: ({ signal }) => getJobBackfills(job.name, { limit: 20 }, { signal }),
    refetchInterval: FIVE_SECONDS,
  });
  const columns: Column<BackfillView>[] = [
    {
      title: t("backfill.range"),
      show: (one) => (
        <>
          <Moment at={one.since} /> – <Moment at={one.until} />
        </>
      ),
    },
    { title: t("list.status"), kind: "tight", show: (one) => <StateTag state={one.status} /> },
    { title: t("backfill.progress"), show: (one) => <Far told={one} /> },
    { title: t("backfill.by"), show: (one) => one.created_by },
    {
      title: t("backfill.acts"),
      show: (one) =>
        one.status === "RUNNING" ? (
          <Act action="backfills.cancel" size="small" danger onClick={() => setCancelling(one)}>
            {t("backfill.cancel")}
          </Act>
        ) : (
          "–"
        ),
    },
  ];
  return (
    <Card title={t("view.backfills")}>
      {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
      <Rows
        caption={t("view.backfills")}
        columns={columns}
        items={asked.data?.items}
        id={(one) => one.id}
        empty={
          <Empty
            title={t("backfill.none")}
            help={t("backfill.teach")}
            line={`horae backfill start ${job.name} --since 2026-11-14T00:00:00Z --until 2026-11-15T00:00:00Z --key once-1`}
          />
        }
      />
      {cancelling && (
        <Confirm
          title={t("backfill.cancelTitle")}
          verb={t("backfill.cancel")}
          effect={[t("backfill.cancelEffect"), t("backfill.cancelStay")]}
          danger
          act={async () => {
            await postBackfillCancel(cancelling.id);
            await queries.invalidateQueries({ queryKey: ["job", job.name, "backfills"] });
          }}
          onClose={() => setCancelling(null)}
        />
      )}
    </Card>
  );
}

/** Of one that runs, and of the newest that ended, the instances are counted as well. */
function Far({ told }: { told: BackfillView }) {
  const { t } = useTranslation(["jobs", "states"]);
  const whole = useQuery({
    queryKey: ["backfill", told.id, told.status],
    queryFn: ({ signal }) => getBackfill(told.id, { signal }),
    refetchInterval: (query) => (unfinished(query.state.data ?? told) ? FIVE_SECONDS : false),
  });
  const one = whole.data ?? told;
  const made = one.born + one.already;
  const part = one.planned === 0 ? 100 : Math.floor((100 * made) / one.planned);
  const ended = Object.entries(one.ended ?? {})
    .map(([state, count]) => `${t(`states:${state as State}`)} ${count}`)
    .join(" · ");
  return (
    <div className="far">
      <Progress percent={part} size="small" aria-label={t("backfill.progress")} />
      <span>
        {t("backfill.told", { made, planned: one.planned, already: one.already, waiting: one.waiting ?? 0 })}
      </span>
      {ended && <div className="soft">{ended}</div>}
    </div>
  );
}

function unfinished(one: BackfillView): boolean {
  return one.status === "RUNNING" || (one.waiting ?? 0) > 0;
}

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobGraphRuns } from "../../api/generated/client";
import type { GraphRunView, JobView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";
import { RunTag } from "./StepTag";

const REFRESH_MS = 5_000;
const PAGE_SIZE = 10;

/** The runs of a graph, newest first. */
export function RunList({ job }: { job: JobView }) {
  const { t } = useTranslation("graphs");
  const [cursor, setCursor] = useState<string>();
  const query = useQuery({
    queryKey: ["job", job.name, "graph-runs", cursor],
    queryFn: ({ signal }) => getJobGraphRuns(job.id, { cursor, limit: PAGE_SIZE }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const columns: Column<GraphRunView>[] = [
    {
      title: t("facts.fire"),
      kind: "tight",
      show: (run) => (
        <Link to="/graph-runs/$instance" params={{ instance: run.id }}>
          <Timestamp at={run.fire_time} />
        </Link>
      ),
    },
    { title: t("runs.state"), kind: "tight", show: (run) => <RunTag run={run} /> },
    { title: t("facts.started"), kind: "tight", show: (run) => <Timestamp at={run.started_at} /> },
    {
      title: t("facts.ended"),
      kind: "tight",
      show: (run) => (run.ended_at ? <Timestamp at={run.ended_at} /> : "–"),
    },
    { title: t("runs.id"), show: (run) => <code>{run.id}</code> },
  ];
  return (
    <Card title={t("runs.title")} id="runs">
      <PagedTable<GraphRunView>
        query={query}
        caption={t("runs.title")}
        columns={columns}
        id={(run) => run.id}
        empty={<p className="soft">{t("runs.none")}</p>}
        cursor={cursor}
        onCursor={setCursor}
      />
      <p className="soft">{t("runs.kept")}</p>
    </Card>
  );
}

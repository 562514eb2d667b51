import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Checkbox } from "antd";
import { useTranslation } from "react-i18next";
import { getWorkers } from "../../api/generated/client";
import type { WorkerView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Principal } from "../../parts/Principal";
import { TextFilter } from "../../parts/TextFilter";
import { Timestamp } from "../../parts/Timestamp";
import { DrainButton } from "./DrainButton";
import { clientOf } from "./depths";

const route = getRouteApi("/workers");
const REFRESH_MS = 10_000;
const EXAMPLE = "python examples/start/worker.py";

/** The workers that polled within the last hour, of all queues or of one. */
export function WorkerList() {
  const { t } = useTranslation("workers");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["workers", search.queue, search.polling, search.cursor],
    queryFn: ({ signal }) =>
      getWorkers({ queue: search.queue, polling: search.polling, cursor: search.cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card title={t("workers.title")}>
      <search className="filters">
        <TextFilter
          label={t("workers.queue")}
          value={search.queue}
          onSend={(queue) => void navigate({ search: { ...search, queue, cursor: undefined } })}
        />
        <Checkbox
          className="only"
          checked={search.polling ?? false}
          onChange={(event) =>
            void navigate({
              search: { ...search, polling: event.target.checked || undefined, cursor: undefined },
            })
          }
        >
          {t("workers.onlyPolling")}
        </Checkbox>
      </search>
      <PagedTable<WorkerView>
        query={query}
        caption={t("workers.title")}
        columns={useColumns()}
        id={(one) => `${one.queue} ${one.worker_id}`}
        cursor={search.cursor}
        onCursor={(cursor) => void navigate({ search: { ...search, cursor } })}
        empty={<EmptyState title={t("workers.empty.title")} help={t("workers.empty.help")} line={EXAMPLE} />}
      />
    </Card>
  );
}

function useColumns(): Column<WorkerView>[] {
  const { t } = useTranslation("workers");
  return [
    { title: t("workers.id"), show: (one) => <code>{one.worker_id}</code> },
    { title: t("workers.queue"), show: (one) => one.queue },
    { title: t("workers.status"), show: (one) => <PollStatus worker={one} /> },
    { title: t("workers.claimed"), kind: "number", show: (one) => one.claimed },
    { title: t("workers.wanted"), kind: "number", show: (one) => one.wanted },
    { title: t("workers.polledAt"), kind: "tight", show: (one) => <Timestamp at={one.polled_at} relative /> },
    { title: t("workers.since"), kind: "tight", show: (one) => <Timestamp at={one.since} /> },
    { title: t("workers.client"), show: (one) => <Client worker={one} /> },
    { title: t("workers.version"), kind: "tight", show: (one) => clientOf(one.client).version || "–" },
    { title: t("workers.action"), kind: "tight", show: (one) => <DrainButton worker={one} /> },
  ];
}

function PollStatus({ worker }: { worker: WorkerView }) {
  const { t } = useTranslation("workers");
  if (worker.status !== "ACTIVE")
    return (
      <>
        <span className="tone-warn toned">{t(`workers.states.${worker.status}`)}</span>{" "}
        <span className="soft">
          {worker.drained_at && <Timestamp at={worker.drained_at} relative />} ·{" "}
          <Principal id={worker.drained_by ?? ""} /> · {worker.drain_reason}
        </span>
      </>
    );
  if (worker.polling) return <span className="tone-good toned">{t("workers.polling")}</span>;
  return <span className="soft">{t("workers.silent")}</span>;
}

function Client({ worker }: { worker: WorkerView }) {
  const { name, runs } = clientOf(worker.client);
  return (
    <>
      {name} <span className="soft">{[runs, worker.address].filter(Boolean).join(" · ")}</span>
    </>
  );
}

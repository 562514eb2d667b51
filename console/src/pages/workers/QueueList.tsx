import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getQueues } from "../../api/generated/client";
import type { QueueView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";
import { type DepthSample, growthPerMinute } from "./depths";
import { QueueSentence } from "./QueueSentence";
import { useDepths } from "./useDepths";

const route = getRouteApi("/workers");
const REFRESH_MS = 10_000;
const EXAMPLE = "horae job create hello --cron '*/5 * * * * *'";

/** The queues by name; a queue with waiting work and no worker says so. */
export function QueueList() {
  const { t } = useTranslation("workers");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["queues", search.queues],
    queryFn: ({ signal }) => getQueues({ cursor: search.queues }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const depths = useDepths(query.data?.items, query.dataUpdatedAt);
  return (
    <Card title={t("queues.title")}>
      {query.data && !search.queues && !query.data.next && <QueueSentence queues={query.data.items} />}
      <PagedTable<QueueView>
        query={query}
        caption={t("queues.title")}
        columns={useColumns(depths)}
        id={(one) => one.name}
        cursor={search.queues}
        onCursor={(queues) => void navigate({ search: { ...search, queues } })}
        empty={<EmptyState title={t("queues.empty.title")} help={t("queues.empty.help")} line={EXAMPLE} />}
      />
    </Card>
  );
}

function useColumns(depths: Map<string, DepthSample[]>): Column<QueueView>[] {
  const { t } = useTranslation("workers");
  return [
    {
      title: t("queues.name"),
      show: (one) => (
        <Link to="/workers" search={{ queue: one.name }}>
          {one.name}
        </Link>
      ),
    },
    { title: t("queues.status"), show: (one) => <QueueStatus queue={one} /> },
    { title: t("queues.waiting"), kind: "number", show: (one) => waitingText(one) },
    {
      title: t("queues.growth"),
      kind: "number",
      show: (one) => <Growth samples={depths.get(one.name) ?? []} />,
    },
    {
      title: t("queues.oldest"),
      kind: "tight",
      show: (one) => (one.oldest_waiting_since ? <Timestamp at={one.oldest_waiting_since} relative /> : "–"),
    },
    { title: t("queues.claimed"), kind: "number", show: (one) => one.claimed },
    { title: t("queues.polling"), kind: "number", show: (one) => one.polling },
    {
      title: t("queues.polledAt"),
      kind: "tight",
      show: (one) => (one.polled_at ? <Timestamp at={one.polled_at} relative /> : "–"),
    },
    { title: t("queues.jobs"), show: (one) => <Jobs names={one.jobs} /> },
  ];
}

const waitingText = (queue: QueueView): string => `${queue.waiting}${queue.more_waiting ? "+" : ""}`;

/** By how much the queue grows in a minute, as this page has seen it. */
function Growth({ samples }: { samples: DepthSample[] }) {
  const growth = growthPerMinute(samples);
  if (growth === null) return <span className="soft">…</span>;
  if (growth === 0) return "±0";
  return growth > 0 ? <span className="tone-warn toned">+{growth}</span> : growth;
}

/** Whether somebody takes the work of a queue. */
function QueueStatus({ queue }: { queue: QueueView }) {
  const { t } = useTranslation("workers");
  if (queue.unattended) return <span className="tone-bad toned">{t("queues.unattended")}</span>;
  if (queue.polling > 0) return <span className="tone-good toned">{t("queues.attended")}</span>;
  if (queue.claimed > 0) return <span className="tone-busy toned">{t("queues.busy")}</span>;
  return <span className="soft">{t("queues.quiet")}</span>;
}

function Jobs({ names }: { names: string[] }) {
  return names.map((name, index) => (
    <span key={name}>
      {index > 0 && ", "}
      <Link to="/jobs/$job" params={{ job: name }}>
        {name}
      </Link>
    </span>
  ));
}

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getSubscriptions, getSubscriptionsName } from "../../api/generated/client";
import type { SubscriptionView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { labelTexts } from "../../parts/lines";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";
import { SubscriptionDialog } from "./ChannelDialogs";
import { SinkText } from "./ChannelFields";
import { ChannelName } from "./ChannelName";
import { SubscriptionActions } from "./SubscriptionActions";

const route = getRouteApi("/events");
const REFRESH_MS = 15_000;
const PAGE_SIZE = 20; // each row needs a request for its progress
const REFRESH_PER_ROW_MS = 5_000; // a longer list sends no more requests per second

/** The subscriptions, each with its delivery progress. */
export function Subscriptions() {
  const { t } = useTranslation("events");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const cursor = search.subscriptions;
  const query = useQuery({
    queryKey: ["subscriptions", cursor],
    queryFn: ({ signal }) => getSubscriptions({ cursor, limit: PAGE_SIZE }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card title={t("out.title")} id="subscriptions">
      <p className="soft">{t("out.about")}</p>
      <div className="filters">
        <ActionButton action="subscriptions.put" type="primary" onClick={() => setAdding(true)}>
          {t("out.open")}
        </ActionButton>
      </div>
      {adding && <SubscriptionDialog onClose={() => setAdding(false)} />}
      <PagedTable<SubscriptionView>
        query={query}
        caption={t("out.title")}
        columns={useColumns(Math.max(REFRESH_MS, (query.data?.items.length ?? 0) * REFRESH_PER_ROW_MS))}
        id={(one) => one.name}
        cursor={cursor}
        onCursor={(subscriptions) => void navigate({ search: { ...search, subscriptions } })}
        empty={
          <EmptyState
            title={t("out.none")}
            help={t("out.emptyHelp")}
            line="horae subscription put hook --webhook https://crm.example.com/events --signing crm-events"
          />
        }
      />
    </Card>
  );
}

function useColumns(refreshMs: number): Column<SubscriptionView>[] {
  const { t } = useTranslation("events");
  return [
    { title: t("columns.name"), show: (one) => <ChannelName one={one} /> },
    { title: t("columns.sink"), show: (one) => <SinkText sink={one.sink} /> },
    { title: t("columns.what"), show: (one) => <EventFilterText one={one} /> },
    {
      title: t("columns.sent"),
      kind: "number",
      show: (one) => <DeliveryProgress one={one} refreshMs={refreshMs} part="sent" />,
    },
    {
      title: t("columns.until"),
      kind: "tight",
      show: (one) => <DeliveryProgress one={one} refreshMs={refreshMs} part="until" />,
    },
    {
      title: t("columns.error"),
      show: (one) => <DeliveryProgress one={one} refreshMs={refreshMs} part="error" />,
    },
    { title: t("columns.actions"), kind: "tight", show: (one) => <SubscriptionActions one={one} /> },
  ];
}

function EventFilterText({ one }: { one: SubscriptionView }) {
  const { t } = useTranslation("events");
  const labels = labelTexts(one.labels);
  return (
    <>
      {one.events.join(", ") || t("all")}
      {labels.length > 0 && <span className="soft"> · {labels.join(", ")}</span>}
    </>
  );
}

/** The delivery progress of a subscription: count, time or error. The list does not contain it: one request per row. */
function DeliveryProgress({
  one,
  refreshMs,
  part,
}: {
  one: SubscriptionView;
  refreshMs: number;
  part: "sent" | "until" | "error";
}) {
  const progress = useQuery({
    queryKey: ["subscriptions", "one", one.name],
    queryFn: ({ signal }) => getSubscriptionsName(one.name, { signal }),
    refetchInterval: refreshMs,
  }).data?.progress;
  if (!progress) return <>–</>;
  if (part === "sent") return <>{progress.sent.toLocaleString()}</>;
  if (part === "until") return <Timestamp at={progress.delivered_until} relative />;
  return progress.error ? <span className="toned tone-bad">{progress.error}</span> : null;
}

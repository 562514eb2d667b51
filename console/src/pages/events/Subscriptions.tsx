import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getSubscriptions, getSubscriptionsName } from "../../api/generated/client";
import type { SubscriptionView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Empty } from "../../parts/Empty";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import type { Column } from "../../parts/Rows";
import { Sink } from "./Channel";
import { ChannelName } from "./ChannelName";
import { PutSubscription } from "./Put";
import { SubscriptionActs } from "./SubscriptionActs";

const route = getRouteApi("/events");
const REFRESH = 15_000;
const MANY = 20; // each is asked how far it is
const EACH = 5_000; // so that many of them ask no more often than few

/** Who is told of what happens, and how far each was told. */
export function Subscriptions() {
  const { t } = useTranslation("events");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [making, setMaking] = useState(false);
  const cursor = search.subscriptions;
  const asked = useQuery({
    queryKey: ["subscriptions", cursor],
    queryFn: ({ signal }) => getSubscriptions({ cursor, limit: MANY }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH,
  });
  return (
    <Card title={t("out.title")} id="subscriptions">
      <p className="soft">{t("out.about")}</p>
      <div className="filters">
        <Act action="subscriptions.put" type="primary" onClick={() => setMaking(true)}>
          {t("out.open")}
        </Act>
      </div>
      {making && <PutSubscription onClose={() => setMaking(false)} />}
      <Found<SubscriptionView>
        asked={asked}
        caption={t("out.title")}
        columns={useColumns(Math.max(REFRESH, (asked.data?.items.length ?? 0) * EACH))}
        id={(one) => one.name}
        cursor={cursor}
        go={(subscriptions) => void navigate({ search: { ...search, subscriptions } })}
        empty={
          <Empty
            title={t("out.none")}
            help={t("out.teach")}
            line="horae subscription put hook --webhook https://crm.example.com/events --signing crm-events"
          />
        }
      />
    </Card>
  );
}

function useColumns(every: number): Column<SubscriptionView>[] {
  const { t } = useTranslation("events");
  return [
    { title: t("columns.name"), show: (one) => <ChannelName one={one} /> },
    { title: t("columns.sink"), show: (one) => <Sink sink={one.sink} /> },
    { title: t("columns.what"), show: (one) => <What one={one} /> },
    { title: t("columns.sent"), kind: "number", show: (one) => <Far one={one} every={every} part="sent" /> },
    { title: t("columns.until"), kind: "tight", show: (one) => <Far one={one} every={every} part="until" /> },
    { title: t("columns.error"), show: (one) => <Far one={one} every={every} part="error" /> },
    { title: t("columns.acts"), kind: "tight", show: (one) => <SubscriptionActs one={one} /> },
  ];
}

function What({ one }: { one: SubscriptionView }) {
  const { t } = useTranslation("events");
  const labels = Object.entries(one.labels).map(([key, value]) => `${key}=${value}`);
  return (
    <>
      {one.events.join(", ") || t("all")}
      {labels.length > 0 && <span className="soft"> · {labels.join(", ")}</span>}
    </>
  );
}

/** How far it was told: how many, until when, what is wrong. The list does not say it, so each is asked. */
function Far({
  one,
  every,
  part,
}: {
  one: SubscriptionView;
  every: number;
  part: "sent" | "until" | "error";
}) {
  const told = useQuery({
    queryKey: ["subscriptions", "one", one.name],
    queryFn: ({ signal }) => getSubscriptionsName(one.name, { signal }),
    refetchInterval: every,
  }).data?.progress;
  if (!told) return <>–</>;
  if (part === "sent") return <>{told.sent.toLocaleString()}</>;
  if (part === "until") return <Moment at={told.told_until} relative />;
  return told.error ? <span className="toned tone-bad">{told.error}</span> : null;
}

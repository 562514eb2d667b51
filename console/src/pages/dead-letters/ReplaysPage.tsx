import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getPacedReplays } from "../../api/generated/client";
import type { PacedReplayView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Principal } from "../../parts/Principal";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { ReplayFilter } from "./ReplayFilter";
import { useReasonText } from "./useReasonText";
import { Views } from "./Views";

const route = getRouteApi("/dead-letters/replays");
const REFRESH_MS = 5_000;

/** The paced replays of the tenant, newest first. */
export function ReplaysPage() {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["paced-replays", cursor],
    queryFn: ({ signal }) => getPacedReplays({ cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: cursor ? false : REFRESH_MS,
  });
  return (
    <Page title={t("deadLetters:title")}>
      <Views view="replays" />
      <PagedTable<PacedReplayView>
        query={query}
        caption={t("views.replays")}
        columns={useColumns()}
        id={(one) => one.id}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={<EmptyState title={t("replay.empty.title")} help={t("replay.empty.help")} />}
      />
    </Page>
  );
}

function useColumns(): Column<PacedReplayView>[] {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const reasonText = useReasonText();
  return [
    {
      title: t("replay.startedAt"),
      kind: "tight",
      show: (one) => (
        <Link to="/dead-letters/replays/$replay" params={{ replay: one.id }}>
          <Timestamp at={one.created_at} />
        </Link>
      ),
    },
    { title: t("replay.filter"), show: (one) => <ReplayFilter replay={one} /> },
    {
      title: t("deadLetters:columns.status"),
      kind: "tight",
      show: (one) => <StateTag state={one.status} />,
    },
    { title: t("replay.count.sent"), kind: "number", show: (one) => one.sent.toLocaleString() },
    { title: t("replay.count.succeeded"), kind: "number", show: (one) => one.succeeded.toLocaleString() },
    { title: t("replay.count.failed"), kind: "number", show: (one) => one.failed.toLocaleString() },
    { title: t("replay.by"), show: (one) => <Principal id={one.created_by} /> },
    { title: t("replay.note"), show: (one) => reasonText(one.ended_because ?? one.waits_for) },
  ];
}

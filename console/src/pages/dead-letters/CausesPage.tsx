import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getFailureCauses } from "../../api/generated/client";
import type { FailureCauseView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { JobLink } from "../../parts/instance-links";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { TextFilter } from "../../parts/TextFilter";
import { Timestamp } from "../../parts/Timestamp";
import { Trend } from "./Trend";
import { Views } from "./Views";

const route = getRouteApi("/dead-letters/causes");
const REFRESH_MS = 10_000;

/** Why dead letters died: those with the same job, error code and message together, most first. */
export function CausesPage() {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["failure-causes", search],
    queryFn: ({ signal }) => getFailureCauses(search, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: search.cursor ? false : REFRESH_MS,
  });
  return (
    <Page title={t("deadLetters:title")}>
      <Views view="causes" />
      <search className="filters">
        <TextFilter
          label={t("deadLetters:columns.job")}
          value={search.job}
          onSend={(job) => void navigate({ search: { job } })}
        />
      </search>
      {query.data && !query.data.is_complete && <p className="soft">{t("causes.incomplete")}</p>}
      {query.data?.unsorted ? (
        <p className="soft">{t("causes.unsorted", { count: query.data.unsorted })}</p>
      ) : null}
      <PagedTable<FailureCauseView>
        query={query}
        caption={t("views.causes")}
        columns={useColumns()}
        id={(one) => one.cause}
        cursor={search.cursor}
        onCursor={(cursor) => void navigate({ search: { ...search, cursor } })}
        empty={<EmptyState title={t("causes.empty.title")} help={t("causes.empty.help")} />}
      />
    </Page>
  );
}

function useColumns(): Column<FailureCauseView>[] {
  const { t } = useTranslation(["triage", "deadLetters"]);
  return [
    {
      title: t("causes.cause"),
      show: (one) => (
        <Link to="/dead-letters/causes/$cause" params={{ cause: one.cause }}>
          <code>{one.error_code}</code> {one.message || t("causes.noMessage")}
        </Link>
      ),
    },
    {
      title: t("deadLetters:columns.job"),
      show: (one) => (
        <>
          <JobLink one={one} />
          {one.target && <div className="soft">{one.target}</div>}
        </>
      ),
    },
    { title: t("causes.open"), kind: "number", show: (one) => one.open.toLocaleString() },
    { title: t("causes.lastHour"), kind: "number", show: (one) => one.last_hour.toLocaleString() },
    { title: t("causes.lastDay"), kind: "number", show: (one) => one.last_day.toLocaleString() },
    { title: t("causes.dayBefore"), kind: "number", show: (one) => one.day_before.toLocaleString() },
    { title: t("causes.trend"), kind: "tight", show: (one) => <Trend trend={one.trend} /> },
    { title: t("causes.lastAt"), kind: "tight", show: (one) => <Timestamp at={one.last_at} relative /> },
  ];
}

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getInstances, getJobInstances } from "../../api/generated/client";
import type { InstanceView } from "../../api/generated/models";
import { EmptyState } from "../../parts/EmptyState";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { useColumns } from "./columns";
import { FilterBar } from "./FilterBar";
import type { InstanceFilters } from "./filters";

const route = getRouteApi("/instances");
const REFRESH_MS = 5_000;

/** The instances of all jobs, live and ended in one list. */
export function InstancesPage() {
  const { t } = useTranslation("instances");
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInstances(filters);
  const filtered = Object.entries(filters).some(([name, value]) => name !== "cursor" && value !== undefined);
  const more = query.data?.next;
  return (
    <Page title={t("title")}>
      <FilterBar filters={filters} onChange={(next) => void navigate({ search: next })} />
      <PagedTable<InstanceView>
        list="instances"
        query={query}
        caption={t("title")}
        columns={useColumns()}
        id={(one) => one.id}
        cursor={filters.cursor}
        read={(cursor, signal) => readInstances({ ...filters, cursor }, MAX_PAGE_SIZE, signal)}
        sorting={
          filters.job
            ? undefined
            : {
                by: filters.order === "fire_time" ? "fire_time" : undefined,
                onSort: (by) =>
                  void navigate({
                    search: { ...filters, order: by === "fire_time" ? by : undefined, cursor: undefined },
                  }),
              }
        }
        onCursor={(cursor) => void navigate({ search: { ...filters, cursor } })}
        empty={
          filtered || more ? (
            <p className="soft">{more ? t("further") : t("none")}</p>
          ) : (
            <EmptyState title={t("empty.title")} help={t("empty.help")} line="horae job trigger coupon_job" />
          )
        }
      />
    </Page>
  );
}

export function readInstances(filters: InstanceFilters, limit: number | undefined, signal: AbortSignal) {
  const { job, order, ...rest } = filters;
  return job
    ? getJobInstances(job, { ...rest, limit }, { signal })
    : getInstances({ ...rest, order, limit }, { signal });
}

/** Reads a page of instances. The first page is refreshed, later pages are not. */
export function useInstances(filters: InstanceFilters, limit?: number) {
  return useQuery({
    queryKey: ["instances", filters, limit],
    queryFn: ({ signal }) => readInstances(filters, limit, signal),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor ? false : REFRESH_MS,
  });
}

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { getTenantUsage } from "../../api/generated/client";
import type { TenantUsageView } from "../../api/generated/models";
import { CellsDown } from "../../parts/CellsDown";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { LimitName, UseBar } from "./UseTable";
import { nearestFirst, nearestUseOf } from "./uses";

const TENANTS_A_PAGE = 100;
const MAX_ROWS = 20;

/** The tenants that are nearest to a limit, among those that were read. Platform users see it. */
export function NearestTenants() {
  const { t } = useTranslation("limits");
  const query = useInfiniteQuery({
    queryKey: ["tenant-usage"],
    queryFn: ({ signal, pageParam }) =>
      getTenantUsage({ cursor: pageParam, limit: TENANTS_A_PAGE }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const read = query.data?.pages.flatMap((page) => page.items);
  const down = [...new Set(query.data?.pages.flatMap((page) => page.cells_down ?? []))];
  const columns: Column<TenantUsageView>[] = [
    {
      title: t("nearest.tenant"),
      show: (one) => (
        <Link to="/tenants/all/$tenant" params={{ tenant: one.name }}>
          {one.name}
        </Link>
      ),
    },
    { title: t("uses.limit"), show: (one) => <NearestUse tenant={one} show="name" /> },
    { title: t("uses.used"), show: (one) => <NearestUse tenant={one} show="bar" /> },
    {
      title: t("nearest.near"),
      kind: "number",
      show: (one) => one.uses.filter((use) => use.near).length,
    },
  ];
  return (
    <Card title={t("nearest.title")} id="nearest">
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      <CellsDown cells={down} />
      {read && <p className="soft">{t("nearest.read", { count: read.length, most: MAX_ROWS })}</p>}
      {(read || !query.error) && (
        <DataTable
          caption={t("nearest.title")}
          columns={columns}
          items={read && nearestFirst(read).slice(0, MAX_ROWS)}
          id={(one) => one.id}
        />
      )}
      {query.hasNextPage && (
        <div className="pager">
          <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t("nearest.more")}
          </Button>
        </div>
      )}
    </Card>
  );
}

function NearestUse({ tenant, show }: { tenant: TenantUsageView; show: "name" | "bar" }) {
  const use = nearestUseOf(tenant);
  if (!use) return null;
  return show === "name" ? <LimitName use={use} linked={false} /> : <UseBar use={use} />;
}

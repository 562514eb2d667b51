import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { getAudit } from "../../api/generated/client";
import type { AuditEntryView } from "../../api/generated/models";
import { useIsPermitted } from "../../app/permissions";
import type { Column } from "../../parts/DataTable";
import { DateTimeInput } from "../../parts/DateTimeInput";
import { EmptyState } from "../../parts/EmptyState";
import { JobLink } from "../../parts/instance-links";
import { Json } from "../../parts/Json";
import { keyIdIn } from "../../parts/key-ids";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Principal } from "../../parts/Principal";
import { TextFilter } from "../../parts/TextFilter";
import { Timestamp } from "../../parts/Timestamp";
import { AuditChain } from "./AuditChain";
import type { AuditFilters } from "./filters";

const route = getRouteApi("/audit");

/** The audit log, newest entries first. */
export function AuditPage() {
  const { t } = useTranslation("audit");
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const seesChain = useIsPermitted("audit.chain");
  const query = useQuery({
    queryKey: ["audit", filters],
    queryFn: ({ signal }) => getAudit(filters, { signal }),
    placeholderData: keepPreviousData,
  });
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Page title={t("title")} actions={<Button onClick={() => void query.refetch()}>{t("reload")}</Button>}>
      <p className="soft">{t("about")}</p>
      <p>
        <Link to="/certificates/days">{t("certificate.link")}</Link>
      </p>
      <FilterBar filters={filters} onChange={(search) => void navigate({ search })} />
      <PagedTable<AuditEntryView>
        list="audit"
        query={query}
        caption={t("title")}
        columns={useColumns()}
        id={(entry) => `${entry.at} ${entry.action} ${entry.resource}`}
        cursor={filters.cursor}
        read={(cursor, signal) => getAudit({ ...filters, cursor, limit: MAX_PAGE_SIZE }, { signal })}
        onCursor={(cursor) => void navigate({ search: { ...filters, cursor } })}
        empty={
          filtered ? (
            <p className="soft">{t("none")}</p>
          ) : (
            <EmptyState title={t("empty.title")} help={t("empty.help")} />
          )
        }
      />
      {seesChain && <AuditChain />}
    </Page>
  );
}

function FilterBar({ filters, onChange }: { filters: AuditFilters; onChange: (next: AuditFilters) => void }) {
  const { t } = useTranslation("audit");
  const change = (part: Partial<AuditFilters>) => onChange({ ...filters, ...part, cursor: undefined });
  return (
    <search className="filters">
      <TextFilter label={t("columns.actor")} value={filters.actor} onSend={(actor) => change({ actor })} />
      <TextFilter
        label={t("columns.action")}
        value={filters.action}
        onSend={(action) => change({ action })}
      />
      <TextFilter
        label={t("columns.resource")}
        value={filters.resource}
        onSend={(resource) => change({ resource })}
      />
      <DateTimeInput label={t("since")} value={filters.since} onChange={(since) => change({ since })} />
      <DateTimeInput label={t("until")} value={filters.until} onChange={(until) => change({ until })} />
      <Button onClick={() => onChange({})}>{t("clear")}</Button>
    </search>
  );
}

function useColumns(): Column<AuditEntryView>[] {
  const { t } = useTranslation("audit");
  return [
    { id: "at", title: t("columns.at"), kind: "tight", show: (entry) => <Timestamp at={entry.at} /> },
    {
      id: "actor",
      title: t("columns.actor"),
      show: (entry) => <Principal id={entry.actor} />,
    },
    { id: "action", title: t("columns.action"), kind: "tight", show: (entry) => entry.action },
    {
      id: "resource",
      title: t("columns.resource"),
      show: (entry) => <Resource id={entry.resource} />,
    },
    { id: "detail", title: t("columns.detail"), show: (entry) => <Detail entry={entry} /> },
  ];
}

/** The resource of an entry, with a link where it has a page. */
function Resource({ id }: { id: string }) {
  if (keyIdIn(id)) return <Principal id={id} />;
  if (/^ins_[0-9a-z]{26}$/.test(id))
    return (
      <Link to="/instances/$instance" params={{ instance: id }}>
        {id}
      </Link>
    );
  return /^job_[0-9a-z]{26}$/.test(id) ? <JobLink one={{ job_id: id }} /> : id;
}

function Detail({ entry }: { entry: AuditEntryView }) {
  const { t } = useTranslation("audit");
  if (entry.detail === null || entry.detail === undefined || Object.keys(Object(entry.detail)).length === 0)
    return null;
  return (
    <details>
      <summary>{t("show")}</summary>
      <Json value={entry.detail} label={t("columns.detail")} />
    </details>
  );
}

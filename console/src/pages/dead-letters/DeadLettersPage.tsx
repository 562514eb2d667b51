import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Button, Select } from "antd";
import { useTranslation } from "react-i18next";
import { getDeadLetters } from "../../api/generated/client";
import type { DeadLetterView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { JobLink, KeyLink } from "../../parts/instance-links";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { StateTag } from "../../parts/StateTag";
import { TextFilter } from "../../parts/TextFilter";
import { Timestamp } from "../../parts/Timestamp";
import { Actions } from "./Actions";
import { type DeadLetterFilters, ERROR_CODES, queryOf, STATUS_CHOICES } from "./filters";
import { SelectionActions } from "./SelectionActions";
import { Tags } from "./Tags";
import { Views } from "./Views";
import "../instances/instances.css";

const route = getRouteApi("/dead-letters");
const REFRESH_MS = 5_000;

/** The list of dead letters, with replay and discard. */
export function DeadLettersPage() {
  const { t } = useTranslation("deadLetters");
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["dead-letters", filters],
    queryFn: ({ signal }) => getDeadLetters(queryOf(filters), { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor ? false : REFRESH_MS,
  });
  const { job, tag, error_code, cause } = filters;
  const filtered = Boolean(job || tag || error_code || cause || filters.status);
  const name = [job, error_code, tag, cause].filter(Boolean).join(" · ") || t("many.all");
  const selection = { filter: { job, tag, error_code, cause }, name };
  return (
    <Page title={t("title")} actions={<SelectionActions selection={selection} />}>
      <Views view="list" />
      <FilterBar filters={filters} onChange={(search) => void navigate({ search })} />
      <PagedTable<DeadLetterView>
        list="dead-letters"
        read={(cursor, signal) =>
          getDeadLetters({ ...queryOf(filters), cursor, limit: MAX_PAGE_SIZE }, { signal })
        }
        query={query}
        caption={t("title")}
        columns={useColumns()}
        id={(one) => one.instance_id}
        cursor={filters.cursor}
        onCursor={(cursor) => void navigate({ search: { ...filters, cursor } })}
        empty={
          filtered ? (
            <p className="soft">{t("none")}</p>
          ) : (
            <EmptyState title={t("empty.title")} help={t("empty.help")} />
          )
        }
      />
    </Page>
  );
}

function FilterBar({
  filters,
  onChange,
}: {
  filters: DeadLetterFilters;
  onChange: (next: DeadLetterFilters) => void;
}) {
  const { t } = useTranslation(["deadLetters", "states", "triage"]);
  const change = (part: Partial<DeadLetterFilters>) => onChange({ ...filters, ...part, cursor: undefined });
  return (
    <search className="filters">
      <TextFilter label={t("columns.job")} value={filters.job} onSend={(job) => change({ job })} />
      <Select
        aria-label={t("columns.code")}
        placeholder={t("columns.code")}
        className="short"
        allowClear
        showSearch
        value={filters.error_code}
        options={ERROR_CODES.map((value) => ({ value, label: value }))}
        onChange={(error_code) => change({ error_code })}
      />
      <TextFilter label={t("tag")} value={filters.tag} onSend={(tag) => change({ tag })} />
      <Select
        aria-label={t("columns.status")}
        placeholder={t("columns.status")}
        className="short"
        allowClear
        value={filters.status}
        options={STATUS_CHOICES.map((value) => ({
          value,
          label: value === "OPEN" ? t("open") : t(`states:${value}`),
        }))}
        onChange={(status) => change({ status })}
      />
      {filters.cause && (
        <Button onClick={() => change({ cause: undefined })}>{t("triage:causes.everyCause")}</Button>
      )}
    </search>
  );
}

function useColumns(): Column<DeadLetterView>[] {
  const { t } = useTranslation("deadLetters");
  return [
    {
      id: "failedAt",
      title: t("columns.failedAt"),
      kind: "tight",
      show: (one) => (
        <Link to="/instances/$instance" params={{ instance: one.instance_id }}>
          <Timestamp at={one.created_at} />
        </Link>
      ),
    },
    { id: "job", title: t("columns.job"), show: (one) => <JobLink one={one} /> },
    { id: "key", title: t("columns.key"), show: (one) => <KeyLink one={one} /> },
    {
      id: "code",
      title: t("columns.code"),
      show: (one) => (
        <span className="fault">
          <code>{one.error_code}</code> {one.error_msg}
        </span>
      ),
    },
    { id: "tag", title: t("tag"), show: (one) => <Tags one={one} /> },
    { id: "status", title: t("columns.status"), show: (one) => <Status one={one} /> },
    { id: "actions", title: t("columns.actions"), kind: "tight", show: (one) => <Actions one={one} /> },
  ];
}

function Status({ one }: { one: DeadLetterView }) {
  const { t } = useTranslation("deadLetters");
  return (
    <>
      <StateTag state={one.replay_status} />{" "}
      {one.replay_id && (
        <Link to="/instances/$instance" params={{ instance: one.replay_id }}>
          {t("replayed")}
        </Link>
      )}
    </>
  );
}

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobSubjects, getJobSubjectsKeyExplain } from "../../api/generated/client";
import type { JobView, SubjectView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { TextFilter } from "../../parts/TextFilter";
import { Timestamp } from "../../parts/Timestamp";
import { WhyButton } from "../../parts/WhyButton";
import { AddSubjectsDialog, RemoveSubject } from "./SubjectDialogs";
import { STATUS_NAMES, STATUS_TONES, STATUSES, type SubjectStatus, statusOf } from "./subject-status";

const REFRESH_MS = 5_000;

/** The subjects of a set in the order of their keys, each with its last refresh. */
export function Subjects({ job }: { job: JobView }) {
  const { t } = useTranslation("rolling");
  const search = useSearch({ from: "/jobs/$job" });
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const { prefix, batch, cursor } = search;
  const status = statusOf(search.status);
  const filters = { prefix, status, batch };
  const query = useQuery({
    queryKey: ["job", job.name, "subjects", filters, cursor],
    queryFn: ({ signal }) =>
      getJobSubjects(job.name, { prefix, status, batch_no: batch, cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: cursor ? false : REFRESH_MS,
  });
  const showPage = (next: SubjectFilters & { cursor?: string }) =>
    void navigate({ to: "/jobs/$job", params: { job: job.name }, search: { view: "subjects", ...next } });
  return (
    <Card title={t("subjects.title")} id="subjects">
      <search className="filters">
        <TextFilter
          label={t("subjects.prefix")}
          value={prefix}
          onSend={(value) => showPage({ ...filters, prefix: value })}
        />
        <Select
          aria-label={t("status.label")}
          placeholder={t("status.label")}
          className="short"
          allowClear
          value={status}
          options={STATUSES.map((value) => ({ value, label: t(`status.${STATUS_NAMES[value]}`) }))}
          onChange={(value) => showPage({ ...filters, status: value })}
        />
        <TextFilter
          label={t("status.batch")}
          value={batch}
          onSend={(value) => showPage({ ...filters, batch: value })}
        />
        <ActionButton action="subjects.add" onClick={() => setAdding(true)}>
          {t("add.open")}
        </ActionButton>
      </search>
      {adding && <AddSubjectsDialog job={job} onClose={() => setAdding(false)} />}
      <PagedTable<SubjectView>
        list="subjects"
        read={(from, signal) =>
          getJobSubjects(
            job.name,
            { prefix, status, batch_no: batch, cursor: from, limit: MAX_PAGE_SIZE },
            { signal },
          )
        }
        query={query}
        caption={t("subjects.title")}
        columns={useColumns(job, (number) => showPage({ batch: number }))}
        id={(one) => one.key}
        cursor={cursor}
        onCursor={(next) => showPage({ ...filters, cursor: next })}
        empty={
          prefix || status !== undefined || batch ? (
            <p className="soft">{t("status.noMatch")}</p>
          ) : (
            <EmptyState
              title={t("subjects.none")}
              help={t("subjects.emptyHelp")}
              line={`horae subject import ${job.name} --file products.txt`}
            />
          )
        }
      />
    </Card>
  );
}

interface SubjectFilters {
  prefix?: string;
  status?: SubjectStatus;
  batch?: string;
}

function useColumns(job: JobView, onBatch: (number: string) => void): Column<SubjectView>[] {
  const { t } = useTranslation("rolling");
  return [
    {
      id: "key",
      title: t("subjects.key"),
      show: (one) => (
        <Link to="/instances" search={{ job: job.name, key: one.key }}>
          {one.key}
        </Link>
      ),
    },
    { id: "label", title: t("status.label"), kind: "tight", show: (one) => <StatusText one={one} /> },
    {
      id: "updated",
      title: t("status.updated"),
      kind: "tight",
      show: (one) => <Timestamp at={one.updated_at} relative />,
    },
    {
      id: "success",
      title: t("subjects.success"),
      kind: "tight",
      show: (one) => <Timestamp at={one.last_success_at} />,
    },
    {
      id: "started",
      title: t("subjects.started"),
      kind: "tight",
      show: (one) => <Timestamp at={one.started_at} />,
    },
    { id: "finished", title: t("subjects.finished"), kind: "tight", show: (one) => <FinishedAt one={one} /> },
    {
      id: "batch",
      title: t("subjects.batch"),
      kind: "tight",
      show: (one) => <BatchNumber number={one.batch_no} onChoose={onBatch} />,
    },
    { id: "remark", title: t("subjects.remark"), show: (one) => one.remark },
    {
      id: "actions",
      title: t("subjects.actions"),
      kind: "tight",
      show: (one) => <SubjectActions job={job} one={one} />,
    },
  ];
}

function SubjectActions({ job, one }: { job: JobView; one: SubjectView }) {
  return (
    <span className="actions">
      <WhyButton
        id={`${job.name} / ${one.key}`}
        ask={(question, signal) => getJobSubjectsKeyExplain(job.name, one.key, question, { signal })}
      />
      <RemoveSubject job={job} one={one} />
    </span>
  );
}

/** The end of the last refresh; a running refresh has a link to its instance. */
function FinishedAt({ one }: { one: SubjectView }) {
  const { t } = useTranslation("rolling");
  if (one.instance_id)
    return (
      <Link to="/instances/$instance" params={{ instance: one.instance_id }}>
        {t("subjects.underWay")}
      </Link>
    );
  return <Timestamp at={one.finished_at} />;
}

/** The status of the last refresh, as a word in its tone. */
function StatusText({ one }: { one: SubjectView }) {
  const { t } = useTranslation("rolling");
  const status = statusOf(one.status) ?? 0;
  return <span className={`toned tone-${STATUS_TONES[status]}`}>{t(`status.${STATUS_NAMES[status]}`)}</span>;
}

/** The last digits of a batch number, as a button that shows the subjects of this batch. */
function BatchNumber({ number, onChoose }: BatchNumberProps) {
  if (!number) return null;
  return (
    <Button type="link" size="small" className="batch" title={number} onClick={() => onChoose(number)}>
      …{number.slice(-8)}
    </Button>
  );
}

interface BatchNumberProps {
  number: string | null;
  onChoose: (number: string) => void;
}

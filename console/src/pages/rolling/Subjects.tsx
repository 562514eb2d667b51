import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobSubjects } from "../../api/generated/client";
import type { JobView, SubjectView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";
import { TextFilter } from "../instances/FilterBar";
import { AddSubjectsDialog, RemoveSubject } from "./SubjectDialogs";

const REFRESH_MS = 5_000;

/** The subjects of a set in the order of their keys, each with its last refresh. */
export function Subjects({ job }: { job: JobView }) {
  const { t } = useTranslation("rolling");
  const search = useSearch({ from: "/jobs/$job" });
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const { prefix, cursor } = search;
  const query = useQuery({
    queryKey: ["job", job.name, "subjects", prefix, cursor],
    queryFn: ({ signal }) => getJobSubjects(job.name, { prefix, cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: cursor ? false : REFRESH_MS,
  });
  const showPage = (more: { prefix?: string; cursor?: string }) =>
    void navigate({ to: "/jobs/$job", params: { job: job.name }, search: { view: "subjects", ...more } });
  return (
    <Card title={t("subjects.title")} id="subjects">
      <search className="filters">
        <TextFilter
          label={t("subjects.prefix")}
          value={prefix}
          onSend={(value) => showPage({ prefix: value })}
        />
        <ActionButton action="subjects.add" onClick={() => setAdding(true)}>
          {t("add.open")}
        </ActionButton>
      </search>
      {adding && <AddSubjectsDialog job={job} onClose={() => setAdding(false)} />}
      <PagedTable<SubjectView>
        query={query}
        caption={t("subjects.title")}
        columns={useColumns(job)}
        id={(one) => one.key}
        cursor={cursor}
        onCursor={(next) => showPage({ prefix, cursor: next })}
        empty={
          prefix ? (
            <p className="soft">{t("subjects.noMatch")}</p>
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

function useColumns(job: JobView): Column<SubjectView>[] {
  const { t } = useTranslation("rolling");
  return [
    {
      title: t("subjects.key"),
      show: (one) => (
        <Link to="/instances" search={{ job: job.name, key: one.key }}>
          {one.key}
        </Link>
      ),
    },
    { title: t("subjects.success"), kind: "tight", show: (one) => <Timestamp at={one.last_success_at} /> },
    { title: t("subjects.started"), kind: "tight", show: (one) => <Timestamp at={one.started_at} /> },
    { title: t("subjects.finished"), kind: "tight", show: (one) => <FinishedAt one={one} /> },
    { title: t("subjects.batch"), kind: "tight", show: (one) => <BatchNumber number={one.batch_no} /> },
    { title: t("subjects.remark"), show: (one) => one.remark },
    { title: t("subjects.actions"), kind: "tight", show: (one) => <RemoveSubject job={job} one={one} /> },
  ];
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

/** The last digits of a batch number; the title has the whole number. */
function BatchNumber({ number }: { number: string | null }) {
  return number ? <code title={number}>…{number.slice(-8)}</code> : null;
}

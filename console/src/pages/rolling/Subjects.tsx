import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobSubjects } from "../../api/generated/client";
import type { JobView, SubjectView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Empty } from "../../parts/Empty";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import type { Column } from "../../parts/Rows";
import { Word } from "../instances/Filters";
import { Add, Remove } from "./Members";

const REFRESH = 5_000;

/** The members of a set in the order of their keys, each with its last refresh. */
export function Subjects({ job }: { job: JobView }) {
  const { t } = useTranslation("rolling");
  const search = useSearch({ from: "/jobs/$job" });
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const { prefix, cursor } = search;
  const asked = useQuery({
    queryKey: ["job", job.name, "subjects", prefix, cursor],
    queryFn: ({ signal }) => getJobSubjects(job.name, { prefix, cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: cursor ? false : REFRESH,
  });
  const go = (more: { prefix?: string; cursor?: string }) =>
    void navigate({ to: "/jobs/$job", params: { job: job.name }, search: { view: "subjects", ...more } });
  return (
    <Card title={t("subjects.title")} id="subjects">
      <search className="filters">
        <Word label={t("subjects.prefix")} value={prefix} onSend={(told) => go({ prefix: told })} />
        <Act action="subjects.add" onClick={() => setAdding(true)}>
          {t("add.open")}
        </Act>
      </search>
      {adding && <Add job={job} onClose={() => setAdding(false)} />}
      <Found<SubjectView>
        asked={asked}
        caption={t("subjects.title")}
        columns={useColumns(job)}
        id={(one) => one.key}
        cursor={cursor}
        go={(next) => go({ prefix, cursor: next })}
        empty={
          prefix ? (
            <p className="soft">{t("subjects.noMatch")}</p>
          ) : (
            <Empty
              title={t("subjects.none")}
              help={t("subjects.teach")}
              line={`horae subjects import ${job.name} --file products.txt`}
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
    { title: t("subjects.success"), kind: "tight", show: (one) => <Moment at={one.last_success_at} /> },
    { title: t("subjects.started"), kind: "tight", show: (one) => <Moment at={one.started_at} /> },
    { title: t("subjects.finished"), kind: "tight", show: (one) => <Finished one={one} /> },
    { title: t("subjects.batch"), kind: "tight", show: (one) => <Batch number={one.batch_no} /> },
    { title: t("subjects.remark"), show: (one) => one.remark },
    { title: t("subjects.acts"), kind: "tight", show: (one) => <Remove job={job} one={one} /> },
  ];
}

/** When its last refresh ended; one that is under way leads to its instance. */
function Finished({ one }: { one: SubjectView }) {
  const { t } = useTranslation("rolling");
  if (one.instance_id)
    return (
      <Link to="/instances/$instance" params={{ instance: one.instance_id }}>
        {t("subjects.underWay")}
      </Link>
    );
  return <Moment at={one.finished_at} />;
}

/** The end of a batch's number tells batches apart; all of it stands in the title. */
function Batch({ number }: { number: string | null }) {
  return number ? <code title={number}>…{number.slice(-8)}</code> : null;
}

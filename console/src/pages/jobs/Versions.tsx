import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getJobDiff, getJobVersions } from "../../api/generated/client";
import type { JobDifferenceView, JobVersionView, JobView } from "../../api/generated/models";
import { writeJson } from "../../api/json";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { Principal } from "../../parts/Principal";
import { Timestamp } from "../../parts/Timestamp";

/** All versions of a job, and the differences between two of them. The address names the two. */
export function Versions({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  const { before, after } = useSearch({ from: "/jobs/$job" });
  const query = useQuery({
    queryKey: ["job", job.name, "versions", job.version],
    queryFn: ({ signal }) => getJobVersions(job.name, { limit: 50 }, { signal }),
  });
  const columns: Column<JobVersionView>[] = [
    { title: t("version.number"), kind: "number", show: (one) => one.version },
    { title: t("version.made"), kind: "tight", show: (one) => <Timestamp at={one.created_at} /> },
    { title: t("version.by"), show: (one) => <Principal id={one.created_by} /> },
    { title: t("version.compare"), show: (one) => <CompareLink job={job.name} version={one.version} /> },
  ];
  return (
    <>
      {before && after && <Difference job={job.name} before={before} after={after} />}
      <Card title={t("view.versions")}>
        {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
        <DataTable
          caption={t("view.versions")}
          columns={columns}
          items={query.data?.items}
          id={(one) => String(one.version)}
        />
      </Card>
    </>
  );
}

function CompareLink({ job, version }: { job: string; version: number }) {
  const { t } = useTranslation("jobs");
  if (version === 1) return <span className="soft">{t("version.first")}</span>;
  return (
    <Link to="/jobs/$job" params={{ job }} search={{ view: "versions", before: version - 1, after: version }}>
      {t("version.with", { version: version - 1 })}
    </Link>
  );
}

function Difference({ job, before, after }: { job: string; before: number; after: number }) {
  const { t } = useTranslation("jobs");
  const query = useQuery({
    queryKey: ["job", job, "diff", before, after],
    queryFn: ({ signal }) => getJobDiff(job, { before, after }, { signal }),
    staleTime: Number.POSITIVE_INFINITY, // versions never change
  });
  const renderValue = (value: unknown) => (
    <code>{value === null || value === undefined ? "–" : writeJson(value, 1)}</code>
  );
  const columns: Column<JobDifferenceView>[] = [
    { title: t("version.path"), show: (one) => <code>{one.path}</code> },
    { title: t("version.was", { version: before }), show: (one) => <del>{renderValue(one.before)}</del> },
    { title: t("version.is", { version: after }), show: (one) => <ins>{renderValue(one.after)}</ins> },
  ];
  return (
    <Card title={t("version.diff", { before, after })}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      <DataTable
        caption={t("version.diff", { before, after })}
        columns={columns}
        items={query.data}
        id={(one) => one.path}
        empty={<p className="soft">{t("version.same")}</p>}
      />
    </Card>
  );
}

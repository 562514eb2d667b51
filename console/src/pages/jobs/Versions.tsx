import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getJobDiff, getJobVersions } from "../../api/generated/client";
import type { DifferenceView, JobView, VersionView } from "../../api/generated/models";
import { writeJson } from "../../api/json";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import { type Column, Rows } from "../../parts/Rows";
import { Trouble } from "../../parts/Trouble";

/** All versions, and what differs between two of them; which two stands in the address. */
export function Versions({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  const { before, after } = useSearch({ from: "/jobs/$job" });
  const asked = useQuery({
    queryKey: ["job", job.name, "versions", job.version],
    queryFn: ({ signal }) => getJobVersions(job.name, { limit: 50 }, { signal }),
  });
  const columns: Column<VersionView>[] = [
    { title: t("version.number"), kind: "number", show: (one) => one.version },
    { title: t("version.made"), kind: "tight", show: (one) => <Moment at={one.created_at} /> },
    { title: t("version.by"), show: (one) => one.created_by },
    { title: t("version.compare"), show: (one) => <Compare job={job.name} version={one.version} /> },
  ];
  return (
    <>
      {before && after && <Difference job={job.name} before={before} after={after} />}
      <Card title={t("view.versions")}>
        {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
        <Rows
          caption={t("view.versions")}
          columns={columns}
          items={asked.data?.items}
          id={(one) => String(one.version)}
        />
      </Card>
    </>
  );
}

function Compare({ job, version }: { job: string; version: number }) {
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
  const asked = useQuery({
    queryKey: ["job", job, "diff", before, after],
    queryFn: ({ signal }) => getJobDiff(job, { before, after }, { signal }),
    staleTime: Number.POSITIVE_INFINITY, // versions never change
  });
  const shown = (value: unknown) => (
    <code>{value === null || value === undefined ? "–" : writeJson(value, 1)}</code>
  );
  const columns: Column<DifferenceView>[] = [
    { title: t("version.path"), show: (one) => <code>{one.path}</code> },
    { title: t("version.was", { version: before }), show: (one) => <del>{shown(one.before)}</del> },
    { title: t("version.is", { version: after }), show: (one) => <ins>{shown(one.after)}</ins> },
  ];
  return (
    <Card title={t("version.diff", { before, after })}>
      {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
      <Rows
        caption={t("version.diff", { before, after })}
        columns={columns}
        items={asked.data}
        id={(one) => one.path}
        empty={<p className="soft">{t("version.same")}</p>}
      />
    </Card>
  );
}

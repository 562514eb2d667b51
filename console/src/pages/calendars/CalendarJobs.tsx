import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobs } from "../../api/generated/client";
import type { JobView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { zoneOf } from "../jobs/zone-of";

/** The active and paused jobs that use a calendar. */
export function CalendarJobs({ calendar }: { calendar: string }) {
  const { t } = useTranslation("calendars");
  const [cursor, setCursor] = useState<string>();
  const query = useQuery({
    queryKey: ["jobs", "of-calendar", calendar, cursor],
    queryFn: ({ signal }) => getJobs({ calendar, cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("jobs.title")}>
      <PagedTable<JobView>
        query={query}
        caption={t("jobs.title")}
        columns={useColumns(calendar)}
        id={(job) => job.id}
        cursor={cursor}
        onCursor={setCursor}
        empty={<p className="soft">{t("jobs.none")}</p>}
      />
    </Card>
  );
}

function useColumns(calendar: string): Column<JobView>[] {
  const { t } = useTranslation("calendars");
  return [
    {
      title: t("jobs.job"),
      show: (job) => (
        <Link to="/jobs/$job" params={{ job: job.name }}>
          {job.name}
        </Link>
      ),
    },
    { title: t("jobs.owner"), show: (job) => job.owner ?? "" },
    { title: t("jobs.fires"), show: (job) => t(`jobs.${modeOf(job, calendar)}`) },
    { title: t("jobs.status"), kind: "tight", show: (job) => <StateTag state={job.status} /> },
    {
      title: t("jobs.next"),
      kind: "tight",
      show: (job) => <Timestamp at={job.next_fire_at} jobZone={zoneOf(job)} />,
    },
  ];
}

const modeOf = (job: JobView, calendar: string): "include" | "exclude" =>
  job.policies.calendars?.find((rule) => rule.calendar === calendar)?.mode ?? "include";

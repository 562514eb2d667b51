import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { InstanceView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { JobLink, KeyLink } from "../../parts/instance-links";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { duration } from "../../parts/times";
import "./instances.css";

/** The columns of a list of instances; without the job if the list belongs to one job. */
export function useColumns(withJob = true): Column<InstanceView>[] {
  const { t } = useTranslation("instances");
  const all: (Column<InstanceView> & { of?: "job" })[] = [
    {
      id: "fired",
      title: t("columns.fired"),
      kind: "tight",
      sort: "fire_time",
      show: (one) => (
        <Link to="/instances/$instance" params={{ instance: one.id }}>
          <Timestamp at={one.fire_time} />
        </Link>
      ),
    },
    { id: "job", title: t("columns.job"), of: "job", show: (one) => <JobLink one={one} /> },
    { id: "key", title: t("columns.key"), show: (one) => <KeyLink one={one} /> },
    { id: "state", title: t("columns.state"), kind: "tight", show: (one) => <StateText one={one} /> },
    { id: "attempts", title: t("columns.attempts"), kind: "number", show: (one) => one.attempt },
    {
      id: "delay",
      title: t("columns.delay"),
      kind: "number",
      show: (one) => formatDuration(one.trigger_delay_ms),
    },
    { id: "took", title: t("columns.took"), kind: "number", show: (one) => formatDuration(one.duration_ms) },
    {
      id: "due",
      extra: true,
      title: t("fact.wasDue"),
      kind: "tight",
      show: (one) => <Timestamp at={one.due_at} />,
    },
    {
      id: "changed",
      extra: true,
      title: t("fact.changed"),
      kind: "tight",
      show: (one) => <Timestamp at={one.changed_at} />,
    },
    { id: "worker", extra: true, title: t("columns.worker"), show: (one) => one.worker_id },
    { id: "error", title: t("columns.error"), show: (one) => <ErrorText one={one} /> },
  ];
  return all.filter((column) => withJob || column.of !== "job");
}

function StateText({ one }: { one: InstanceView }) {
  const { t } = useTranslation("instances");
  return (
    <>
      <StateTag state={one.state} />
      {one.reason && <span className="soft"> {one.reason}</span>}
      {one.range_count && one.range_count > 1 && (
        <span className="soft"> × {t("times", { count: one.range_count })}</span>
      )}
    </>
  );
}

function ErrorText({ one }: { one: InstanceView }) {
  if (!one.error_code && !one.error_msg) return null;
  return (
    <span className="fault">
      {one.error_code && <code>{one.error_code}</code>} {one.error_msg}
    </span>
  );
}

const formatDuration = (ms: number | null | undefined) =>
  ms === null || ms === undefined ? "" : duration(ms);

import { Link } from "@tanstack/react-router";
import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { AppliedPlanView, BusyJobView, BusySecondView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { type Column, DataTable } from "../../parts/DataTable";
import { useSelection } from "../../parts/list/Selection";
import { Card } from "../../parts/Page";
import { markedTime, secondsText } from "../../parts/times";
import { SpreadDialog } from "./SpreadDialog";

/** The jobs of a busy second. The selected ones can be spread. */
export function BusyJobs({ second, hours }: { second: BusySecondView; hours: number }) {
  const { t } = useTranslation("forecast");
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isOpen, setOpen] = useState(false);
  const [applied, setApplied] = useState<AppliedPlanView | null>(null);
  const selection = useSelection<BusyJobView>(
    (job) => selected.has(job.name),
    (job) => job.name,
    (jobs, isSelected) => {
      const next = new Set(selected);
      for (const { name } of jobs) isSelected ? next.add(name) : next.delete(name);
      setSelected(next);
    },
  );
  const more = second.fires - second.jobs.length;
  return (
    <Card title={t("jobsOf", { second: markedTime(second.at), count: second.fires })}>
      {applied && <Applied plan={applied} />}
      <DataTable
        caption={t("jobs")}
        columns={useColumns()}
        items={second.jobs}
        id={(job) => job.name}
        selection={selection}
      />
      {more > 0 && <p className="soft">{t("more", { count: more })}</p>}
      <div className="spread-bar">
        <span role="status">{t("selected", { count: selected.size })}</span>
        <ActionButton
          action="plans.apply"
          type="primary"
          disabled={selected.size === 0}
          onClick={() => setOpen(true)}
        >
          {t("spread.verb")}
        </ActionButton>
        {selected.size > 0 && (
          <Button type="text" onClick={() => setSelected(new Set())}>
            {t("selectNone")}
          </Button>
        )}
      </div>
      {isOpen && (
        <SpreadDialog
          jobs={[...selected]}
          hours={hours}
          onApplied={(plan) => {
            setApplied(plan);
            setSelected(new Set());
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </Card>
  );
}

function useColumns(): Column<BusyJobView>[] {
  const { t } = useTranslation("forecast");
  return [
    {
      title: t("job"),
      show: (job) => (
        <Link to="/jobs/$job" params={{ job: job.name }}>
          {job.name}
        </Link>
      ),
    },
    { title: t("owner"), show: (job) => job.owner ?? <span className="soft">{t("noOwner")}</span> },
    { title: t("firesOfJob"), kind: "number", show: (job) => job.fires.toLocaleString() },
    { title: t("window"), kind: "tight", show: (job) => <WindowText job={job} /> },
    { title: t("source"), show: (job) => job.source ?? <span className="soft">{t("byHand")}</span> },
  ];
}

function WindowText({ job }: { job: BusyJobView }) {
  const { t } = useTranslation("forecast");
  if (job.exact) return <>{t("exact")}</>;
  return job.window ? secondsText(job.window) : <span className="soft">{t("noWindow")}</span>;
}

/** What an applied plan did: how many windows were set, and which jobs stayed. */
function Applied({ plan }: { plan: AppliedPlanView }) {
  const { t } = useTranslation("forecast");
  const done = plan.done.filter((one) => one.code === null || one.code === undefined);
  const stayed = plan.steps.filter((step) => step.step === "conflict" || step.step === "refused");
  const refused = plan.done.filter((one) => one.code);
  return (
    <div role="status" className="applied">
      <p>{t("spread.done", { count: done.length })}</p>
      {stayed.length + refused.length > 0 && (
        <ul>
          {stayed.map((step) => (
            <li key={step.name}>
              <strong>{step.name}</strong>: {step.reason}
            </li>
          ))}
          {refused.map((one) => (
            <li key={one.name}>
              <strong>{one.name}</strong>: {one.message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

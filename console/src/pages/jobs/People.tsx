import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { JobView } from "../../api/generated/models";
import { Card } from "../../parts/Page";
import { duration } from "../../parts/times";

/** The owner of a job, with a link to all jobs of that owner. */
export function Owner({ owner }: { owner: string }) {
  return (
    <Link to="/jobs" search={{ owner }}>
      {owner}
    </Link>
  );
}

/** What a job is for, who is responsible for it, and when its alerts fire. A job without any of it has no card. */
export function People({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  const contacts = job.contacts ?? [];
  const facts = [
    {
      name: t("people.description"),
      value: job.description && <span className="description">{job.description}</span>,
    },
    { name: t("people.owner"), value: job.owner && <Owner owner={job.owner} /> },
    { name: t("people.runbook"), value: job.runbook && <Runbook url={job.runbook} /> },
    { name: t("people.contacts"), value: contacts.length > 0 && contacts.join(", ") },
    {
      name: t("people.isLate"),
      value: job.late_after && t("people.lateText", { length: duration(job.late_after * 1_000) }),
    },
    {
      name: t("people.isFailing"),
      value: job.fail_after && t("people.failingText", { count: job.fail_after }),
    },
  ].filter((fact) => fact.value);
  if (facts.length === 0) return null;
  return (
    <Card title={t("people.title")}>
      <dl className="facts">
        {facts.map((fact) => (
          <Fact key={fact.name} name={fact.name}>
            {fact.value}
          </Fact>
        ))}
      </dl>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** The server accepts https URLs only. */
function Runbook({ url }: { url: string }) {
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {url}
    </a>
  );
}

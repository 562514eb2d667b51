import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Input } from "antd";
import { useTranslation } from "react-i18next";
import { getCertificatesDay } from "../../api/generated/client";
import type {
  CertificateView,
  CertifiedFindingView,
  CertifiedJobView,
  CertifiedNumberView,
} from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Field } from "../../parts/Field";
import { JobLink } from "../../parts/instance-links";
import { Card, Page } from "../../parts/Page";
import { TextWithCommands } from "../../parts/TextWithCommands";
import { Timestamp } from "../../parts/Timestamp";
import { filtersOf, newestDay, readDay } from "./certificates";
import "./certified-days.css";

const route = getRouteApi("/certificates");

/** The certificate of a day: what became of every fire that should exist. */
export function CertificatePage() {
  const { t } = useTranslation("audit");
  const { day = newestDay(new Date()) } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["certificate", day],
    queryFn: ({ signal }) => getCertificatesDay(day, { signal }),
  });
  const choose = (text: string) => {
    const search = readDay({ day: text });
    if (search.day) void navigate({ search });
  };
  return (
    <Page title={t("certificate.title")}>
      <p>
        <Link to="/certificates/days" search={{ month: day.slice(0, 7) }}>
          {t("days.link")}
        </Link>
      </p>
      <p className="soft">
        <TextWithCommands text={t("certificate.about")} />
      </p>
      <search className="filters">
        <Field label={t("certificate.day")}>
          {(id) => <Input id={id} type="date" value={day} onChange={(event) => choose(event.target.value)} />}
        </Field>
      </search>
      {query.error && <ErrorMessage error={query.error} />}
      {query.data && <Certificate certificate={query.data} />}
    </Page>
  );
}

function Certificate({ certificate }: { certificate: CertificateView }) {
  const { t } = useTranslation("audit");
  return (
    <>
      <Card title={t("certificate.total")}>
        <DataTable<CertifiedNumberView>
          caption={t("certificate.total")}
          items={certificate.total}
          id={(one) => `${one.name} ${one.reason ?? ""}`}
          columns={[
            { title: t("certificate.result"), show: (one) => <ResultName one={one} /> },
            { title: t("certificate.fires"), kind: "number", show: (one) => <FireCount one={one} /> },
          ]}
        />
      </Card>
      {certificate.findings_count > 0 && <Findings certificate={certificate} />}
      <Card title={t("certificate.jobs", { count: certificate.jobs_count })}>
        <DataTable<CertifiedJobView>
          caption={t("certificate.jobs", { count: certificate.jobs_count })}
          items={certificate.jobs}
          id={(job) => job.id}
          columns={[
            {
              title: t("certificate.job"),
              show: (job) => <JobLink one={{ job_id: job.id, job: job.name }} />,
            },
            { title: t("certificate.fires"), show: (job) => <JobNumbers job={job} /> },
          ]}
        />
      </Card>
      <p className="soft">
        {t("certificate.signed", { revision: certificate.revision, key: certificate.key })}{" "}
        <Timestamp at={certificate.made_at} /> <code className="digest">{certificate.digest}</code>
      </p>
    </>
  );
}

function Findings({ certificate }: { certificate: CertificateView }) {
  const { t } = useTranslation("audit");
  const columns: Column<CertifiedFindingView>[] = [
    { title: t("columns.at"), kind: "tight", show: (one) => <Timestamp at={one.at} /> },
    { title: t("certificate.finding"), kind: "tight", show: (one) => one.fault },
    { title: t("certificate.job"), show: (one) => <JobLink one={{ job_id: one.job_id, job: one.job }} /> },
    { title: t("columns.detail"), show: (one) => one.message },
  ];
  const title = t("certificate.findings", { count: certificate.findings_count });
  return (
    <Card title={title}>
      <DataTable<CertifiedFindingView>
        caption={title}
        items={certificate.findings}
        id={(one) => `${one.job_id} ${one.fault} ${one.at} ${one.message}`}
        columns={columns}
      />
    </Card>
  );
}

function JobNumbers({ job }: { job: CertifiedJobView }) {
  return (
    <>
      {job.numbers.map((one) => (
        <span key={`${one.name} ${one.reason ?? ""}`}>
          <ResultName one={one} /> <FireCount one={one} />{" "}
        </span>
      ))}
    </>
  );
}

function ResultName({ one }: { one: CertifiedNumberView }) {
  const { t } = useTranslation("audit");
  const name = t(`certificate.results.${one.name as ResultWord}`);
  return <>{one.reason ? `${name} (${one.reason})` : name}</>;
}

type ResultWord =
  | "expected"
  | "on_time"
  | "late"
  | "waiting"
  | "dead"
  | "cancelled"
  | "skipped"
  | "undecided"
  | "missing";

/** A number of fires, with a link to the list of their instances where there are rows. */
function FireCount({ one }: { one: CertifiedNumberView }) {
  const text = one.fires.toLocaleString("en");
  if (!one.rows || one.fires === 0) return <>{text}</>;
  return (
    <Link to="/instances" search={filtersOf(one.rows)}>
      {text}
    </Link>
  );
}

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { getCertificates } from "../../api/generated/client";
import type { CertifiedDayView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { TextWithCommands } from "../../parts/TextWithCommands";
import { addMonths } from "../jobs/month";
import { OUTCOMES, outcomeCounts, outcomesOf, rangeOf } from "./certified-days";
import { DayMap, OUTCOME_MARKS } from "./DayMap";

const route = getRouteApi("/certificates/days");
const MONTHS_PER_STEP = 12;

/** The certificates of a year, day by day: which are clean, have faults, are not certified, or are not over. */
export function CertifiedDaysPage() {
  const { t } = useTranslation("audit");
  const thisMonth = new Date().toISOString().slice(0, 7);
  const { month = thisMonth } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["certificates", month],
    queryFn: ({ signal }) => getCertificates(rangeOf(month), { signal }),
  });
  const walk = (months: number) => navigate({ search: { month: addMonths(month, months) } });
  const months = query.data && outcomesOf(month, query.data);
  const columns = useFaultColumns();
  const faulty = query.data?.days.filter((day) => day.findings_count > 0) ?? [];
  return (
    <Page title={t("days.title")}>
      <p className="soft">
        <TextWithCommands text={t("days.about")} />
      </p>
      <div className="day-walk">
        <Button onClick={() => void walk(-MONTHS_PER_STEP)}>{t("days.before")}</Button>
        <strong>
          {addMonths(month, 1 - MONTHS_PER_STEP)} – {month}
        </strong>
        <Button onClick={() => void walk(MONTHS_PER_STEP)} disabled={month >= thisMonth}>
          {t("days.after")}
        </Button>
      </div>
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      {!months && !query.error && <Loading />}
      {months && (
        <>
          <ul className="day-outcomes">
            {OUTCOMES.map((outcome) => (
              <li key={outcome}>
                <span className={`outcome outcome-${outcome}`} aria-hidden="true">
                  {OUTCOME_MARKS[outcome]}
                </span>{" "}
                {t(`days.outcome.${outcome}`)}: {outcomeCounts(months)[outcome]}
              </li>
            ))}
          </ul>
          <DayMap months={months} />
          <Card title={t("days.faulty")}>
            <DataTable<CertifiedDayView>
              caption={t("days.faulty")}
              items={faulty.toReversed()}
              id={(day) => day.day}
              columns={columns}
              empty={<p className="soft">{t("days.noFaults")}</p>}
            />
          </Card>
        </>
      )}
    </Page>
  );
}

function useFaultColumns(): Column<CertifiedDayView>[] {
  const { t } = useTranslation("audit");
  return [
    {
      title: t("certificate.day"),
      kind: "tight",
      show: (day) => (
        <Link to="/certificates" search={{ day: day.day }}>
          {day.day}
        </Link>
      ),
    },
    { title: t("days.findings"), kind: "number", show: (day) => day.findings_count },
    { title: t("certificate.results.expected"), kind: "number", show: (day) => day.expected },
    { title: t("certificate.results.missing"), kind: "number", show: (day) => day.missing },
    { title: t("certificate.results.late"), kind: "number", show: (day) => day.late },
    { title: t("certificate.results.dead"), kind: "number", show: (day) => day.dead },
  ];
}

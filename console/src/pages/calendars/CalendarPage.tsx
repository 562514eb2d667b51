import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getCalendar } from "../../api/generated/client";
import type { CalendarView } from "../../api/generated/models";
import { useIsPermitted } from "../../app/permissions";
import { ActionButton } from "../../parts/ActionButton";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { CalendarEditor } from "./CalendarEditor";
import { CalendarJobs } from "./CalendarJobs";
import { LastDay } from "./CalendarsPage";
import { draftOf } from "./days";
import { MonthView } from "./MonthView";
import { useWeekdayNames } from "./useWeekdayNames";

const route = getRouteApi("/calendars/$calendar");

/** A calendar as months, the jobs that use it, and the preview of a change. */
export function CalendarPage() {
  const { calendar: name } = route.useParams();
  const { t } = useTranslation("calendars");
  const [editing, setEditing] = useState(false);
  const seesJobs = useIsPermitted("jobs.list");
  const query = useQuery({
    queryKey: ["calendar", name],
    queryFn: ({ signal }) => getCalendar(name, { signal }),
  });
  const [date, setDate] = useChosenDate();
  return (
    <Page
      title={t("one", { calendar: name })}
      actions={
        query.data &&
        !editing && (
          <ActionButton action="calendars.put" onClick={() => setEditing(true)}>
            {t("edit")}
          </ActionButton>
        )
      }
    >
      <p>
        <Link to="/calendars">{t("all")}</Link>
      </p>
      {query.error ? (
        <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data === undefined ? (
        <Loading />
      ) : editing ? (
        <CalendarEditor
          key={name}
          calendar={query.data}
          date={date}
          onDate={setDate}
          onClose={() => setEditing(false)}
        />
      ) : (
        <>
          <Card title={t("month.card")}>
            <Facts calendar={query.data} />
            <MonthView draft={draftOf(query.data)} saved={draftOf(query.data)} date={date} onDate={setDate} />
          </Card>
          {seesJobs && <CalendarJobs calendar={name} />}
        </>
      )}
    </Page>
  );
}

/** The chosen day. Its month is part of the address. */
function useChosenDate(): [string, (date: string) => void] {
  const { month } = route.useSearch();
  const navigate = route.useNavigate();
  const today = new Date().toISOString().slice(0, 10);
  const [chosen, setChosen] = useState(month === undefined ? today : `${month}-01`);
  const current = month ?? today.slice(0, 7);
  const date = chosen.startsWith(current) ? chosen : `${current}-01`;
  const choose = (next: string) => {
    setChosen(next);
    if (!next.startsWith(current)) void navigate({ search: { month: next.slice(0, 7) }, resetScroll: false });
  };
  return [date, choose];
}

function Facts({ calendar }: { calendar: CalendarView }) {
  const { t } = useTranslation("calendars");
  const weekdayName = useWeekdayNames();
  return (
    <dl className="facts calendar-facts">
      <dt>{t("first")}</dt>
      <dd>{calendar.first}</dd>
      <dt>{t("last")}</dt>
      <dd>
        <LastDay last={calendar.last} />
      </dd>
      <dt>{t("weekdays")}</dt>
      <dd>{calendar.weekdays.map(weekdayName).join(" ") || t("noWeekdays")}</dd>
      <dt>{t("exceptions")}</dt>
      <dd>{t("exceptionCount", { added: calendar.added.length, removed: calendar.removed.length })}</dd>
    </dl>
  );
}

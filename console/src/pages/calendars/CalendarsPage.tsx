import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getCalendars } from "../../api/generated/client";
import type { CalendarView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { NewCalendarDialog } from "./NewCalendarDialog";
import { useWeekdayNames } from "./useWeekdayNames";

const route = getRouteApi("/calendars");
const EXAMPLE = "horae calendar import CN 2026 2027";
const WARNING_DAYS = 60;
const DAY_MS = 86_400_000;

/** The calendars of the tenant, by name. */
export function CalendarsPage() {
  const { t } = useTranslation("calendars");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const query = useQuery({
    queryKey: ["calendars", cursor],
    queryFn: ({ signal }) => getCalendars({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t("title")}
      actions={
        <ActionButton action="calendars.put" type="primary" onClick={() => setAdding(true)}>
          {t("new.open")}
        </ActionButton>
      }
    >
      <p className="soft">{t("about")}</p>
      {adding && <NewCalendarDialog onClose={() => setAdding(false)} />}
      <PagedTable<CalendarView>
        query={query}
        caption={t("title")}
        columns={useColumns()}
        id={(calendar) => calendar.name}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={<EmptyState title={t("empty.title")} help={t("empty.help")} line={EXAMPLE} />}
      />
    </Page>
  );
}

function useColumns(): Column<CalendarView>[] {
  const { t } = useTranslation("calendars");
  const weekdayNames = useWeekdayNames();
  return [
    {
      title: t("name"),
      show: (calendar) => (
        <Link to="/calendars/$calendar" params={{ calendar: calendar.name }}>
          {calendar.name}
        </Link>
      ),
    },
    { title: t("first"), kind: "tight", show: (calendar) => calendar.first },
    { title: t("last"), kind: "tight", show: (calendar) => <LastDay last={calendar.last} /> },
    {
      title: t("weekdays"),
      show: (calendar) => calendar.weekdays.map(weekdayNames).join(" ") || t("noWeekdays"),
    },
    { title: t("addedDays"), kind: "number", show: (calendar) => calendar.added.length },
    { title: t("removedDays"), kind: "number", show: (calendar) => calendar.removed.length },
  ];
}

/** The last known day, with a warning if it is near: after it, jobs that use the calendar are skipped. */
export function LastDay({ last }: { last: string }) {
  const { t } = useTranslation("calendars");
  const days = Math.floor((Date.parse(`${last}T23:59:59Z`) - Date.now()) / DAY_MS);
  if (days >= WARNING_DAYS) return <>{last}</>;
  return (
    <>
      {last}{" "}
      <span className={`state tone-${days < 0 ? "bad" : "warn"}`}>
        {days < 0 ? t("ended") : t("endsIn", { count: days })}
      </span>
    </>
  );
}

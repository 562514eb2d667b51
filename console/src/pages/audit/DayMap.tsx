import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { movedBy } from "../calendars/days";
import type { DayOutcome, OutcomeDay, OutcomeMonth } from "./certified-days";
import "./certified-days.css";

export const OUTCOME_MARKS: Record<DayOutcome, string> = { clean: "✓", faults: "!", missing: "–", open: "·" };

/** A year, newest month first, as a map of days in the colour and with the mark of their outcome; each leads to its certificate. */
export function DayMap({ months }: { months: OutcomeMonth[] }) {
  const { t } = useTranslation("audit");
  const map = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<string>();
  const days = months.flatMap((month) => month.days);
  const newest = days.findLast((day) => day.outcome !== "open") ?? days[0];
  const current = days.some((day) => day.date === chosen) ? chosen : newest?.date;
  const walk = (event: KeyboardEvent) => {
    const next = current && movedBy(event.key, event.shiftKey, current);
    const link = next && map.current?.querySelector<HTMLElement>(`[data-date="${next}"]`);
    if (!link) return;
    event.preventDefault();
    setChosen(next);
    link.focus();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div className="day-map" role="group" aria-label={t("days.map")} ref={map} onKeyDown={walk}>
      {months.toReversed().map((month) => (
        <section key={month.name} aria-label={month.name}>
          <h3>{month.name}</h3>
          <div className={`day-month starts-${month.blanks}`}>
            {month.days.map((day) => (
              <DayLink key={day.date} day={day} isCurrent={day.date === current} />
            ))}
          </div>
        </section>
      ))}
      <p className="soft">{t("days.keys")}</p>
    </div>
  );
}

function DayLink({ day, isCurrent }: { day: OutcomeDay; isCurrent: boolean }) {
  const { t } = useTranslation("audit");
  const { certificate } = day;
  const numbers =
    certificate &&
    t("days.numbers", {
      expected: certificate.expected,
      missing: certificate.missing,
      findings: certificate.findings_count,
    });
  const name = [day.date, t(`days.outcome.${day.outcome}`), numbers].filter(Boolean).join(", ");
  return (
    <Link
      to="/certificates"
      search={{ day: day.date }}
      className={`outcome outcome-${day.outcome}`}
      data-date={day.date}
      tabIndex={isCurrent ? 0 : -1}
      title={name}
    >
      <span className="unseen">{name}</span>
      <span aria-hidden="true">{OUTCOME_MARKS[day.outcome]}</span>
    </Link>
  );
}

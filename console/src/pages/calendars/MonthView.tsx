import { Button } from "antd";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { calendarDays } from "../jobs/month";
import { type Draft, exceptionOf, movedBy, shiftMonths, stateOf } from "./days";
import { useWeekdayNames } from "./useWeekdayNames";
import "./calendars.css";

const MARKS = { inside: "✓", outside: "–", unknown: "?" } as const;

/**
 * One month of a calendar. The arrow keys walk by day and week, Page Up and Page Down by month, with Shift by year. With
 * `onToggle`, Enter or a click takes a day in or out; days that differ from `saved` are marked.
 */
export function MonthView({ draft, saved, date, onDate, onToggle }: MonthViewProps) {
  const { t } = useTranslation("calendars");
  const weekdayName = useWeekdayNames();
  const grid = useRef<HTMLTableElement>(null);
  const target = useRef<string>(undefined); // what a key moved to: its month may be shown later
  useEffect(() => {
    if (target.current !== date) return;
    target.current = undefined;
    grid.current?.querySelector<HTMLElement>(`[data-date="${date}"]`)?.focus();
  }, [date]);
  const walk = (event: KeyboardEvent) => {
    const next = movedBy(event.key, event.shiftKey, date);
    if (next === undefined) return;
    event.preventDefault();
    target.current = next;
    onDate(next);
  };
  const month = date.slice(0, 7);
  const days = calendarDays(month, [], "UTC");
  const weeks = Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
  return (
    <>
      <div className="walk">
        <Button onClick={() => onDate(shiftMonths(date, -12))}>{t("month.yearBefore")}</Button>
        <Button onClick={() => onDate(shiftMonths(date, -1))}>{t("month.before")}</Button>
        <strong aria-live="polite">{month}</strong>
        <Button onClick={() => onDate(shiftMonths(date, 1))}>{t("month.after")}</Button>
        <Button onClick={() => onDate(shiftMonths(date, 12))}>{t("month.yearAfter")}</Button>
      </div>
      <table className="day-grid" ref={grid} onKeyDown={walk} aria-label={t("month.title", { month })}>
        <thead>
          <tr>
            {[1, 2, 3, 4, 5, 6, 7].map((number) => (
              <th key={number} scope="col">
                {weekdayName(number)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]?.date}>
              {week.map((day) => (
                <td key={day.date}>
                  {day.inside && (
                    <DayButton
                      date={day.date}
                      draft={draft}
                      saved={saved}
                      isChosen={day.date === date}
                      onChoose={() => {
                        onDate(day.date);
                        onToggle?.(day.date);
                      }}
                    />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <ul className="day-legend soft">
        <li>✓ {t("day.inside")}</li>
        <li>– {t("day.outside")}</li>
        <li>? {t("day.unknown")}</li>
        <li>+ {t("day.added")}</li>
        <li>− {t("day.removed")}</li>
      </ul>
      <p className="soft">{t("month.keys")}</p>
    </>
  );
}

interface MonthViewProps {
  draft: Draft;
  saved: Draft;
  date: string;
  onDate: (date: string) => void;
  onToggle?: (date: string) => void;
}

function DayButton({ date, draft, saved, isChosen, onChoose }: DayButtonProps) {
  const { t } = useTranslation("calendars");
  const state = stateOf(draft, date);
  const exception = exceptionOf(draft, date);
  const isChanged = state !== stateOf(saved, date);
  const facts = [t(`day.${state}`), exception && t(`day.${exception}`), isChanged && t("day.changed")];
  return (
    <button
      type="button"
      className={`day day-${state}${isChanged ? " day-changed" : ""}`}
      data-date={date}
      tabIndex={isChosen ? 0 : -1}
      aria-current={isChosen ? "date" : undefined}
      onClick={onChoose}
    >
      <span className="unseen">{[date, ...facts.filter(Boolean)].join(", ")}</span>
      <span aria-hidden="true">{Number(date.slice(8))}</span>
      <span aria-hidden="true">
        {MARKS[state]}
        {exception && (exception === "added" ? "+" : "−")}
      </span>
      {isChanged && <small aria-hidden="true">{t("day.changed")}</small>}
    </button>
  );
}

interface DayButtonProps {
  date: string;
  draft: Draft;
  saved: Draft;
  isChosen: boolean;
  onChoose: () => void;
}

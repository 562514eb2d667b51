import { Checkbox, Input } from "antd";
import { useTranslation } from "react-i18next";
import { Field } from "../../parts/Field";
import { type Draft, WEEKDAYS } from "./days";
import { useWeekdayNames } from "./useWeekdayNames";
import "./calendars.css";

/** The first and the last day of a calendar, and its weekdays. Single days are chosen in the month view. */
export function CalendarFields({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  const { t } = useTranslation("calendars");
  const weekdayName = useWeekdayNames();
  return (
    <div className="calendar-fields">
      <DateField label={t("first")} value={draft.first} onChange={(first) => change({ first })} />
      <DateField label={t("last")} value={draft.last} onChange={(last) => change({ last })} />
      <fieldset className="weekdays">
        <legend>{t("weekdays")}</legend>
        {WEEKDAYS.map((number) => (
          <Checkbox
            key={number}
            checked={draft.weekdays.includes(number)}
            onChange={(event) =>
              change({
                weekdays: event.target.checked
                  ? [...draft.weekdays, number]
                  : draft.weekdays.filter((one) => one !== number),
              })
            }
          >
            {weekdayName(number)}
          </Checkbox>
        ))}
      </fieldset>
    </div>
  );
}

function DateField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (date: string) => void;
}) {
  return (
    <Field label={label}>
      {(id) => (
        <Input
          id={id}
          type="date"
          value={value}
          onChange={(event) => event.target.value && onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putCalendar } from "../../api/generated/client";
import type { CalendarView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { ChoiceField } from "../../parts/Fields";
import { Card } from "../../parts/Page";
import { CalendarFields } from "./CalendarFields";
import { ChangePreview, totalsOf, useChangePreview } from "./ChangePreview";
import { bodyOf, type Draft, draftOf, isSame, toggleDay } from "./days";
import { MonthView } from "./MonthView";

const SPANS = ["30", "90", "366"] as const;

/** Changes a calendar: what it does to coming fires is shown before it can be saved. */
export function CalendarEditor({ calendar, date, onDate, onClose }: EditorProps) {
  const { t } = useTranslation("calendars");
  const saved = draftOf(calendar);
  const [draft, setDraft] = useState<Draft>(saved);
  const [span, setSpan] = useState<(typeof SPANS)[number]>("90");
  const [previewed, setPreviewed] = useState<Draft | null>(null);
  const [saving, setSaving] = useState(false);
  const query = useChangePreview(calendar.name, previewed, Number(span));
  const change = (next: Draft) => {
    setDraft(next);
    setPreviewed(null);
  };
  const isChanged = !isSame(draft, saved);
  const effects = previewed === null ? undefined : query.data?.pages.flatMap((page) => page.jobs);
  const totals = effects && totalsOf(effects, query.data?.pages[0]?.until);
  return (
    <>
      <Card title={t("editor.title")}>
        <p className="soft">{t("editor.about")}</p>
        <CalendarFields draft={draft} change={(part) => change({ ...draft, ...part })} />
        <MonthView
          draft={draft}
          saved={saved}
          date={date}
          onDate={onDate}
          onToggle={(day) => change(toggleDay(draft, day))}
        />
      </Card>
      <Card title={t("preview.title")}>
        <ChoiceField
          label={t("preview.span")}
          value={span}
          choices={SPANS}
          name={(days) => t("preview.days", { count: Number(days) })}
          onChange={setSpan}
        />
        {previewed !== null && <ChangePreview query={query} />}
        <div className="walk">
          <ActionButton action="calendars.preview" disabled={!isChanged} onClick={() => setPreviewed(draft)}>
            {t("preview.verb")}
          </ActionButton>
          <ActionButton
            action="calendars.put"
            type="primary"
            disabled={effects === undefined}
            onClick={() => setSaving(true)}
          >
            {t("editor.save")}
          </ActionButton>
          <Button onClick={onClose}>{t("editor.cancel")}</Button>
        </div>
        {effects === undefined && <p className="soft">{t("editor.first")}</p>}
      </Card>
      {saving && effects && (
        <ConfirmDialog
          title={t("editor.saveTitle", { calendar: calendar.name })}
          verb={t("editor.save")}
          effect={[
            t("preview.sum", { ...totals }),
            ...(totals?.isCut ? [t("preview.cut")] : []),
            ...(query.hasNextPage ? [t("preview.partial")] : []),
            t("editor.replans"),
          ]}
          onConfirm={async () => {
            await putCalendar(calendar.name, bodyOf(draft));
            await Promise.all(
              ["calendar", "calendars", "jobs", "job"].map((key) =>
                queries.invalidateQueries({ queryKey: [key] }),
              ),
            );
            onClose();
          }}
          onClose={() => setSaving(false)}
        />
      )}
    </>
  );
}

interface EditorProps {
  calendar: CalendarView;
  date: string;
  onDate: (date: string) => void;
  onClose: () => void;
}

import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { isGone } from "../../api/errors";
import { getCalendar, putCalendar } from "../../api/generated/client";
import { queries } from "../../app/queries";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { TextField } from "../../parts/Fields";
import { CalendarFields } from "./CalendarFields";
import { bodyOf, type Draft } from "./days";

/** Creates a calendar and opens its page. A calendar that exists is opened and not replaced. */
export function NewCalendarDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation("calendars");
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const create = async () => {
    if (await doesExist(name.trim())) throw new Error(t("new.exists", { name: name.trim() }));
    await putCalendar(name.trim(), bodyOf(draft));
    await queries.invalidateQueries({ queryKey: ["calendars"] });
    await navigate({ to: "/calendars/$calendar", params: { calendar: name.trim() } });
  };
  return (
    <ConfirmDialog
      title={t("new.title")}
      verb={t("new.verb")}
      effect={[t("new.effect")]}
      onConfirm={create}
      onClose={onClose}
    >
      <TextField label={t("name")} value={name} onChange={setName} />
      <CalendarFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
    </ConfirmDialog>
  );
}

/** Monday to Friday of this year and the next. */
function emptyDraft(): Draft {
  const year = new Date().getFullYear();
  return {
    first: `${year}-01-01`,
    last: `${year + 1}-12-31`,
    weekdays: [1, 2, 3, 4, 5],
    added: [],
    removed: [],
  };
}

async function doesExist(name: string): Promise<boolean> {
  try {
    await getCalendar(name);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

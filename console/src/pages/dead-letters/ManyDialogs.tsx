import { useQueryClient } from "@tanstack/react-query";
import { App } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postDeadLettersDiscard, postDeadLettersTag } from "../../api/generated/client";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { NumberField, TextField } from "../../parts/Fields";
import { readLines } from "../../parts/lines";
import { compact, isEmpty, type Selection } from "./selection";
import { useOpenCount } from "./useOpenCount";

const MAX_CHANGED = 10_000;
const DEFAULT_LIMIT = 1_000;

interface ManyDialogProps {
  selection: Selection;
  onClose: () => void;
}

/** Discards many dead letters for good. The reason goes to the audit log. */
export function DiscardManyDialog({ selection, onClose }: ManyDialogProps) {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const [limit, setLimit] = useState(Math.min(selection.open || DEFAULT_LIMIT, MAX_CHANGED));
  const count = useOpenCount(selection);
  const without = isEmpty(selection);
  const missing = reason.trim() === "";
  const effect = [
    t("deadLetters:many.filter", { filter: selection.name }),
    count,
    t("discard.atMost", { limit }),
    t("deadLetters:discard.never"),
    t("discard.audited"),
  ];
  return (
    <ConfirmDialog
      title={t("discard.title")}
      verb={t("discard.verb")}
      danger
      impossible={without}
      effect={without ? [t("needsFilter")] : effect}
      onConfirm={async () => {
        if (missing) throw new Error(t("discard.needsReason"));
        const filter = compact(selection.filter);
        const done = await postDeadLettersDiscard({ ...filter, limit, reason: reason.trim() });
        await queries.invalidateQueries();
        message.info(t("discard.done", { changed: done.changed, refused: done.refused }));
      }}
      onClose={onClose}
    >
      {!without && (
        <>
          <TextField label={t("discard.reason")} value={reason} onChange={setReason} />
          <NumberField
            label={t("deadLetters:many.limit")}
            value={limit}
            min={1}
            max={MAX_CHANGED}
            onChange={setLimit}
          />
        </>
      )}
    </ConfirmDialog>
  );
}

/** Adds tags to many dead letters, and removes others. */
export function TagManyDialog({ selection, onClose }: ManyDialogProps) {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [added, setAdded] = useState("");
  const [removed, setRemoved] = useState("");
  const count = useOpenCount(selection);
  const without = isEmpty(selection);
  return (
    <ConfirmDialog
      title={t("tags.many")}
      verb={t("tags.open")}
      impossible={without}
      effect={
        without
          ? [t("needsFilter")]
          : [t("deadLetters:many.filter", { filter: selection.name }), count, t("tags.found")]
      }
      onConfirm={async () => {
        const done = await postDeadLettersTag({
          ...compact(selection.filter),
          add: readLines(added),
          remove: readLines(removed),
          limit: MAX_CHANGED,
        });
        await queries.invalidateQueries();
        message.info(t("tags.done", { changed: done.changed, refused: done.refused }));
      }}
      onClose={onClose}
    >
      {!without && (
        <>
          <TextField label={t("tags.add")} rows={2} value={added} onChange={setAdded} />
          <TextField label={t("tags.remove")} rows={2} value={removed} onChange={setRemoved} />
        </>
      )}
    </ConfirmDialog>
  );
}

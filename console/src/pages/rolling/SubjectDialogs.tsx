import { App, Checkbox } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { call } from "../../api/call";
import {
  getPostJobSubjectsImportUrl,
  postJobSubjectsRemove,
  putJobSubjects,
} from "../../api/generated/client";
import type { JobView, SubjectChangesView, SubjectView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { TextField } from "../../parts/Fields";

const MAX_KEYS_PER_REQUEST = 1000;

/** Adds subjects to the set, one key per line. */
export function AddSubjectsDialog({ job, onClose }: { job: JobView; onClose: () => void }) {
  const { t } = useTranslation("rolling");
  const { message } = App.useApp();
  const [text, setText] = useState("");
  const [atOnce, setAtOnce] = useState(false);
  const keys = text.split("\n").flatMap((line) => line.trim() || []);
  return (
    <ConfirmDialog
      title={t("add.title", { name: job.name })}
      verb={t("add.verb")}
      effect={[t("add.named", { count: keys.length }), atOnce ? t("add.now") : t("add.tick"), t("add.twice")]}
      onConfirm={async () => {
        const result = await putKeys(job.name, keys, atOnce);
        await queries.invalidateQueries({ queryKey: ["job", job.name] });
        message.info(t("add.done", { named: result.named, changed: result.changed }));
      }}
      onClose={onClose}
    >
      <TextField label={t("add.keys")} help={t("add.help")} rows={6} value={text} onChange={setText} />
      <Checkbox checked={atOnce} onChange={(event) => setAtOnce(event.target.checked)}>
        {t("add.atOnce")}
      </Checkbox>
    </ConfirmDialog>
  );
}

/** Sends few keys in one request and many as a stream with one key per line. */
function putKeys(job: string, keys: string[], at_once: boolean): Promise<SubjectChangesView> {
  if (keys.length <= MAX_KEYS_PER_REQUEST) return putJobSubjects(job, { keys, at_once });
  return call(getPostJobSubjectsImportUrl(job, { at_once }), {
    method: "POST",
    headers: { "Content-Type": "application/x-ndjson" },
    body: keys.map((key) => JSON.stringify(key)).join("\n"),
  });
}

export function RemoveSubject({ job, one }: { job: JobView; one: SubjectView }) {
  const { t } = useTranslation("rolling");
  const [open, setOpen] = useState(false);
  return (
    <>
      <ActionButton
        action="subjects.remove"
        size="small"
        aria-label={t("remove.of", { key: one.key })}
        onClick={() => setOpen(true)}
      >
        {t("remove.verb")}
      </ActionButton>
      {open && (
        <ConfirmDialog
          title={t("remove.title", { key: one.key })}
          verb={t("remove.verb")}
          danger
          effect={[t("remove.never"), t("remove.ends")]}
          onConfirm={async () => {
            await postJobSubjectsRemove(job.name, { keys: [one.key] });
            await queries.invalidateQueries({ queryKey: ["job", job.name] });
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

import { App, Checkbox } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { call } from "../../api/call";
import {
  getPostJobSubjectsImportUrl,
  postJobSubjectsRemove,
  putJobSubjects,
} from "../../api/generated/client";
import type { ChangedView, JobView, SubjectView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { TextField } from "../../parts/Fields";

const AT_ONCE = 1000;

/** Keys that are to be in the set, one a line; as many as there are room for in the field. */
export function Add({ job, onClose }: { job: JobView; onClose: () => void }) {
  const { t } = useTranslation("rolling");
  const { message } = App.useApp();
  const [text, setText] = useState("");
  const [atOnce, setAtOnce] = useState(false);
  const keys = text.split("\n").flatMap((line) => line.trim() || []);
  return (
    <Confirm
      title={t("add.title", { name: job.name })}
      verb={t("add.verb")}
      effect={[t("add.named", { count: keys.length }), atOnce ? t("add.now") : t("add.tick"), t("add.twice")]}
      act={async () => {
        const done = await put(job.name, keys, atOnce);
        await queries.invalidateQueries({ queryKey: ["job", job.name] });
        message.info(t("add.done", { named: done.named, changed: done.changed }));
      }}
      onClose={onClose}
    >
      <TextField label={t("add.keys")} help={t("add.help")} rows={6} value={text} onChange={setText} />
      <Checkbox checked={atOnce} onChange={(event) => setAtOnce(event.target.checked)}>
        {t("add.atOnce")}
      </Checkbox>
    </Confirm>
  );
}

/** Few in one request; many as a stream, a key a line. */
function put(job: string, keys: string[], at_once: boolean): Promise<ChangedView> {
  if (keys.length <= AT_ONCE) return putJobSubjects(job, { keys, at_once });
  return call(getPostJobSubjectsImportUrl(job, { at_once }), {
    method: "POST",
    headers: { "Content-Type": "application/x-ndjson" },
    body: keys.map((key) => JSON.stringify(key)).join("\n"),
  });
}

export function Remove({ job, one }: { job: JobView; one: SubjectView }) {
  const { t } = useTranslation("rolling");
  const [asking, ask] = useState(false);
  return (
    <>
      <Act
        action="subjects.remove"
        size="small"
        aria-label={t("remove.of", { key: one.key })}
        onClick={() => ask(true)}
      >
        {t("remove.verb")}
      </Act>
      {asking && (
        <Confirm
          title={t("remove.title", { key: one.key })}
          verb={t("remove.verb")}
          danger
          effect={[t("remove.never"), t("remove.ends")]}
          act={async () => {
            await postJobSubjectsRemove(job.name, { keys: [one.key] });
            await queries.invalidateQueries({ queryKey: ["job", job.name] });
          }}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}

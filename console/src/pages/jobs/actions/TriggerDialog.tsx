import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../../api/call";
import { postJobTrigger } from "../../../api/generated/client";
import type { JsonValue } from "../../../api/generated/models";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { useIdempotencyKey } from "../../../parts/useIdempotencyKey";
import type { JobDialogProps } from "./Actions";
import { PayloadField } from "./PayloadField";
import { parsePayload } from "./parse-payload";

/** Triggers a job once: the dialog keeps its idempotency key, however often its button is pressed. */
export function TriggerDialog({ job, onClose }: JobDialogProps) {
  const { t } = useTranslation("jobs");
  const key = useIdempotencyKey();
  const router = useRouter();
  const [text, setText] = useState("");
  const { value, error: parseError } = parsePayload(text);
  const paused = job.status === "PAUSED";
  const effect = paused ? [t("trigger.paused")] : [t("trigger.now"), t("trigger.schedule")];
  const onConfirm = async () => {
    if (parseError) throw new Error(parseError);
    const body = value === undefined ? {} : { payload: value as JsonValue };
    const created = await postJobTrigger(job.name, body, withIdempotencyKey(key));
    router.history.push(`${router.options.basepath}/instances/${created.instance_id}`);
  };
  return (
    <ConfirmDialog
      title={t("trigger.title", { name: job.name })}
      verb={t("action.trigger")}
      effect={effect}
      impossible={paused}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {!paused && <PayloadField text={text} error={parseError} onChange={setText} />}
    </ConfirmDialog>
  );
}

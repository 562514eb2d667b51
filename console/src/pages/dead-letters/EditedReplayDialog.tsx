import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postDeadLettersInstanceReplay } from "../../api/generated/client";
import type { DeadLetterView } from "../../api/generated/models";
import { readJson, writeJson } from "../../api/json";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { TextField } from "../../parts/Fields";

/** Replays one dead letter with another payload. */
export function EditedReplayDialog({ one, onClose }: { one: DeadLetterView; onClose: () => void }) {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const queries = useQueryClient();
  const [text, setText] = useState(() => writeJson(one.payload ?? null, 2));
  const error = errorOf(text);
  return (
    <ConfirmDialog
      title={t("edited.title", { name: one.job ?? one.job_id })}
      verb={t("edited.verb")}
      effect={[t("deadLetters:replay.now"), t("edited.kept"), t("deadLetters:replay.same")]}
      onConfirm={async () => {
        await postDeadLettersInstanceReplay(one.instance_id, { payload: readJson(text) as object });
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    >
      <TextField
        label={t("samples.payload")}
        help={error ? t("edited.badJson", { error }) : undefined}
        rows={8}
        value={text}
        onChange={setText}
      />
    </ConfirmDialog>
  );
}

function errorOf(text: string): string | null {
  try {
    readJson(text);
    return null;
  } catch (error) {
    return String(error);
  }
}

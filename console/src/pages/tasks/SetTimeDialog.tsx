import { useQueryClient } from "@tanstack/react-query";
import { App, Input, InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import { putTasksTypeKey } from "../../api/generated/client";
import type { PutTask, TaskView } from "../../api/generated/models";
import { readJson } from "../../api/json";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { DateTimeInput } from "../../parts/DateTimeInput";
import { Field } from "../../parts/Field";
import { markedTime } from "../../parts/times";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";

/** Sets the time of a key. The dialog lists the effects in the current state of the key first. */
export function SetTimeDialog({ type, id, one, onClose }: SetTimeDialogProps) {
  const { t } = useTranslation("tasks");
  const { message } = App.useApp();
  const [at, setAt] = useState<string | undefined>(undefined);
  const [payload, setPayload] = useState("");
  const [version, setVersion] = useState<string | null>(null);
  const key = useIdempotencyKey();
  const queries = useQueryClient();
  const effect = useEffectTexts(one, at);
  const send = async () => {
    const body: PutTask = { at: at ?? null };
    if (payload.trim()) body.payload = readJson(payload) as PutTask["payload"];
    if (version) body.version = readJson(version) as number;
    const answer = await putTasksTypeKey(type, id, body, withIdempotencyKey(key));
    await queries.invalidateQueries();
    message.info(
      `${t(`decision.${answer.decision}`)}${answer.reason ? `: ${t(`reason.${answer.reason}`)}` : ""}`,
    );
  };
  return (
    <ConfirmDialog
      title={one?.live ? t("time.move") : t("time.begin")}
      verb={t("time.send")}
      effect={effect}
      onConfirm={send}
      onClose={onClose}
    >
      <Field label={t("time.at")} help={t("time.atHelp")}>
        {(field) => <DateTimeInput id={field} label={t("time.at")} value={at} onChange={setAt} />}
      </Field>
      <Field label={t("time.payload")} help={one?.live ? t("time.payloadKept") : undefined}>
        {(field) => (
          <Input.TextArea
            id={field}
            rows={3}
            value={payload}
            onChange={(event) => setPayload(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("time.version")} help={t("time.versionHelp")}>
        {(field) => (
          <InputNumber<string> id={field} stringMode value={version} onChange={setVersion} precision={0} />
        )}
      </Field>
    </ConfirmDialog>
  );
}

interface SetTimeDialogProps {
  type: string;
  id: string;
  one: TaskView | null;
  onClose: () => void;
}

/** The effects of a new time in the current state of a key. */
function useEffectTexts(one: TaskView | null, at: string | undefined): string[] {
  const { t } = useTranslation("tasks");
  const to = at ? markedTime(at) : t("time.nowWord");
  switch (one?.live?.state) {
    case "INIT":
    case "FAIL":
    case "BLOCKED":
      return [t("effect.moves", { from: markedTime(one.live.at), to }), t("effect.keeps")];
    case "RUNNING":
      return [t("effect.replaces", { to }), t("effect.flight")];
    default:
      return one?.outcome === "SUCCESS"
        ? [t("effect.succeeded"), t("effect.reopens")]
        : [t("effect.creates", { to })];
  }
}

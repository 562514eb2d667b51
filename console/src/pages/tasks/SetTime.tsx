import { useQueryClient } from "@tanstack/react-query";
import { App, Input, InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { once } from "../../api/call";
import { putTasksTypeKey } from "../../api/generated/client";
import type { PutTask, TaskView } from "../../api/generated/models";
import { readJson } from "../../api/json";
import { Confirm } from "../../parts/Confirm";
import { Field } from "../../parts/Field";
import { dateTime } from "../../parts/times";
import { useOneKey } from "../../parts/useOneKey";
import { When } from "../../parts/When";

/** A new time for a key; what it will mean in the key's present state is said before it is sent. */
export function SetTime({ type, id, one, onClose }: SetTimeProps) {
  const { t } = useTranslation("tasks");
  const { message } = App.useApp();
  const [at, setAt] = useState<string | undefined>(undefined);
  const [payload, setPayload] = useState("");
  const [version, setVersion] = useState<string | null>(null);
  const key = useOneKey();
  const queries = useQueryClient();
  const effect = useMeaning(one, at);
  const send = async () => {
    const told: PutTask = { at: at ?? null };
    if (payload.trim()) told.payload = readJson(payload) as PutTask["payload"];
    if (version) told.version = readJson(version) as number;
    const answer = await putTasksTypeKey(type, id, told, once(key));
    await queries.invalidateQueries();
    message.info(
      `${t(`decision.${answer.decision}`)}${answer.reason ? `: ${t(`reason.${answer.reason}`)}` : ""}`,
    );
  };
  return (
    <Confirm
      title={one?.live ? t("time.move") : t("time.begin")}
      verb={t("time.send")}
      effect={effect}
      act={send}
      onClose={onClose}
    >
      <Field label={t("time.at")} help={t("time.atHelp")}>
        {(field) => <When id={field} label={t("time.at")} value={at} onChange={setAt} />}
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
    </Confirm>
  );
}

interface SetTimeProps {
  type: string;
  id: string;
  one: TaskView | null;
  onClose: () => void;
}

/** The rules of a new time, in the words of this key. */
function useMeaning(one: TaskView | null, at: string | undefined): string[] {
  const { t } = useTranslation("tasks");
  const to = at ? dateTime(at) : t("time.nowWord");
  switch (one?.live?.state) {
    case "INIT":
    case "FAIL":
    case "BLOCKED":
      return [t("effect.moves", { from: dateTime(one.live.at), to }), t("effect.keeps")];
    case "RUNNING":
      return [t("effect.replaces", { to }), t("effect.flight")];
    default:
      return one?.outcome === "SUCCESS"
        ? [t("effect.succeeded"), t("effect.reopens")]
        : [t("effect.creates", { to })];
  }
}

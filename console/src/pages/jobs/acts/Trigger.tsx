import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { once } from "../../../api/call";
import { postJobTrigger } from "../../../api/generated/client";
import type { JsonValue } from "../../../api/generated/models";
import { Confirm } from "../../../parts/Confirm";
import { useOneKey } from "../../../parts/useOneKey";
import type { Dialog } from "./Acts";
import { json } from "./json";
import { PayloadField } from "./PayloadField";

/** Fire now, once: the same dialog sends the same key, however often its button is pressed. */
export function Trigger({ job, onClose }: Dialog) {
  const { t } = useTranslation("jobs");
  const key = useOneKey();
  const router = useRouter();
  const [text, setText] = useState("");
  const { value, wrong } = json(text);
  const paused = job.status === "PAUSED";
  const effect = paused ? [t("trigger.paused")] : [t("trigger.now"), t("trigger.schedule")];
  const act = async () => {
    if (wrong) throw new Error(wrong);
    const body = value === undefined ? {} : { payload: value as JsonValue };
    const made = await postJobTrigger(job.name, body, once(key));
    router.history.push(`${router.options.basepath}/instances/${made.instance_id}`);
  };
  return (
    <Confirm
      title={t("trigger.title", { name: job.name })}
      verb={t("act.trigger")}
      effect={effect}
      impossible={paused}
      act={act}
      onClose={onClose}
    >
      {!paused && <PayloadField text={text} wrong={wrong} tell={setText} />}
    </Confirm>
  );
}

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { once } from "../../api/call";
import { postInstanceCancel, postInstanceRetry } from "../../api/generated/client";
import type { InstanceDetail } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { useOneKey } from "../../parts/useOneKey";
import { isLive } from "./sought";

/** What can be done to an instance in its state. */
export function Acts({ one }: { one: InstanceDetail }) {
  const { t } = useTranslation("instances");
  const [asking, ask] = useState<"cancel" | "retry" | null>(null);
  const close = () => ask(null);
  return (
    <>
      {(one.state === "FAIL" || one.state === "DEAD") && (
        <Act action="instances.retry" onClick={() => ask("retry")}>
          {t("retry.verb")}
        </Act>
      )}
      {isLive(one.state) && (
        <Act action="instances.cancel" danger onClick={() => ask("cancel")}>
          {t("cancel.verb")}
        </Act>
      )}
      {asking === "retry" && <Retry one={one} onClose={close} />}
      {asking === "cancel" && <Cancel one={one} onClose={close} />}
    </>
  );
}

function Cancel({ one, onClose }: { one: InstanceDetail; onClose: () => void }) {
  const { t } = useTranslation("instances");
  const key = useOneKey();
  const queries = useQueryClient();
  const effect = [t("cancel.ends"), one.state === "RUNNING" ? t("cancel.running") : t("cancel.waiting")];
  if (one.key) effect.push(t("cancel.key"));
  return (
    <Confirm
      title={t("cancel.title")}
      verb={t("cancel.verb")}
      danger
      effect={effect}
      act={async () => {
        await postInstanceCancel(one.id, once(key));
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    />
  );
}

function Retry({ one, onClose }: { one: InstanceDetail; onClose: () => void }) {
  const { t } = useTranslation("instances");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const dead = one.state === "DEAD";
  return (
    <Confirm
      title={t("retry.title")}
      verb={t("retry.verb")}
      effect={[dead ? t("retry.dead") : t("retry.now"), t("retry.same"), t("retry.budget")]}
      act={async () => {
        const again = await postInstanceRetry(one.id);
        await queries.invalidateQueries();
        if (again.instance_id !== one.id)
          await navigate({ to: "/instances/$instance", params: { instance: again.instance_id } });
      }}
      onClose={onClose}
    />
  );
}

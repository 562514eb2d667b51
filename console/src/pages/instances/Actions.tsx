import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import { postInstanceCancel, postInstanceRetry } from "../../api/generated/client";
import type { InstanceDetail } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";
import { isLive } from "./filters";

/** The actions of an instance that its state allows. */
export function Actions({ one }: { one: InstanceDetail }) {
  const { t } = useTranslation("instances");
  const [open, setOpen] = useState<"cancel" | "retry" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      {(one.state === "FAIL" || one.state === "DEAD") && (
        <ActionButton action="instances.retry" onClick={() => setOpen("retry")}>
          {t("retry.verb")}
        </ActionButton>
      )}
      {isLive(one.state) && (
        <ActionButton action="instances.cancel" danger onClick={() => setOpen("cancel")}>
          {t("cancel.verb")}
        </ActionButton>
      )}
      {open === "retry" && <RetryDialog one={one} onClose={close} />}
      {open === "cancel" && <CancelDialog one={one} onClose={close} />}
    </>
  );
}

function CancelDialog({ one, onClose }: { one: InstanceDetail; onClose: () => void }) {
  const { t } = useTranslation("instances");
  const key = useIdempotencyKey();
  const queries = useQueryClient();
  const effect = [t("cancel.ends"), one.state === "RUNNING" ? t("cancel.running") : t("cancel.waiting")];
  if (one.key) effect.push(t("cancel.key"));
  return (
    <ConfirmDialog
      title={t("cancel.title")}
      verb={t("cancel.verb")}
      danger
      effect={effect}
      onConfirm={async () => {
        await postInstanceCancel(one.id, withIdempotencyKey(key));
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    />
  );
}

function RetryDialog({ one, onClose }: { one: InstanceDetail; onClose: () => void }) {
  const { t } = useTranslation("instances");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const dead = one.state === "DEAD";
  return (
    <ConfirmDialog
      title={t("retry.title")}
      verb={t("retry.verb")}
      effect={[dead ? t("retry.dead") : t("retry.now"), t("retry.same"), t("retry.budget")]}
      onConfirm={async () => {
        const again = await postInstanceRetry(one.id);
        await queries.invalidateQueries();
        if (again.instance_id !== one.id)
          await navigate({ to: "/instances/$instance", params: { instance: again.instance_id } });
      }}
      onClose={onClose}
    />
  );
}

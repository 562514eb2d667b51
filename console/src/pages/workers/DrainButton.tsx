import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getWorkers, postWorkerDrain, postWorkerResume } from "../../api/generated/client";
import type { WorkerView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { TextField } from "../../parts/Fields";

/** Gives a worker no new work, or gives a drained worker work again. */
export function DrainButton({ worker }: { worker: WorkerView }) {
  const { t } = useTranslation("workers");
  const [open, setOpen] = useState<"drain" | "resume" | null>(null);
  const verb = worker.status === "ACTIVE" ? "drain" : "resume";
  const Dialog = open === "drain" ? DrainDialog : ResumeDialog;
  return (
    <>
      <ActionButton action={`workers.${verb}`} size="small" onClick={() => setOpen(verb)}>
        {t(`${verb}.verb`)}
      </ActionButton>
      {open && <Dialog worker={worker} onClose={() => setOpen(null)} />}
    </>
  );
}

interface DialogProps {
  worker: WorkerView;
  onClose: () => void;
}

/** Says what the worker holds and which queues lose it, before it is drained. */
function DrainDialog({ worker, onClose }: DialogProps) {
  const { t } = useTranslation("workers");
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const { data } = useQuery({
    queryKey: ["workers", "of", worker.worker_id],
    queryFn: ({ signal }) => getWorkers({ worker: worker.worker_id, limit: MAX_QUEUES }, { signal }),
  });
  const queues = data?.items ?? [worker];
  const holds = queues.reduce((sum, one) => sum + one.claimed, 0);
  return (
    <ConfirmDialog
      title={t("drain.title", { worker: worker.worker_id })}
      verb={t("drain.verb")}
      effect={[
        t("drain.holds", { holds }),
        t("drain.queues", { queues: queues.map((one) => one.queue).join(", ") }),
        t("drain.stays"),
        t("drain.audited"),
      ]}
      onConfirm={async () => {
        if (reason.trim() === "") throw new Error(t("drain.needsReason"));
        const done = await postWorkerDrain(worker.worker_id, { reason: reason.trim() });
        await queries.invalidateQueries();
        if (done.cells_down.length > 0)
          message.warning(t("drain.cellsDown", { cells: done.cells_down.join(", ") }));
      }}
      onClose={onClose}
    >
      <TextField label={t("drain.reason")} value={reason} onChange={setReason} />
    </ConfirmDialog>
  );
}

function ResumeDialog({ worker, onClose }: DialogProps) {
  const { t } = useTranslation("workers");
  const { message } = App.useApp();
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={t("resume.title", { worker: worker.worker_id })}
      verb={t("resume.verb")}
      effect={[t("resume.was", { by: worker.drained_by, reason: worker.drain_reason }), t("resume.claims")]}
      onConfirm={async () => {
        const done = await postWorkerResume(worker.worker_id);
        await queries.invalidateQueries();
        if (done.cells_down.length > 0)
          message.warning(t("drain.cellsDown", { cells: done.cells_down.join(", ") }));
      }}
      onClose={onClose}
    />
  );
}

const MAX_QUEUES = 200;

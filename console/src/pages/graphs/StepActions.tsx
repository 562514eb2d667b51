import { useQueryClient } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import {
  postGraphRunsInstanceStepRetry,
  postGraphRunsInstanceStepSkip,
  postGraphRunsInstanceStepSucceed,
} from "../../api/generated/client";
import type { GraphRunDetail, RunStepView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";
import { runKey } from "./run-query";
import { actionsOf, followersOf, isFailed, type StepAction, stepsFrom } from "./structure";

const SEND = {
  retry: postGraphRunsInstanceStepRetry,
  skip: postGraphRunsInstanceStepSkip,
  succeed: postGraphRunsInstanceStepSucceed,
};
/** Steps that a dialog names; of further ones it tells the number. */
const MAX_NAMES = 12;

/** What can be done with a step of an open run. */
export function StepActions({ run, step }: { run: GraphRunDetail; step: RunStepView }) {
  const { t } = useTranslation("graphs");
  const [open, setOpen] = useState<StepAction | null>(null);
  if (run.state !== "OPEN") return <p className="soft">{t("actions.over")}</p>;
  const actions = actionsOf(step.state);
  if (actions.length === 0) return <p className="soft">{t("actions.running")}</p>;
  return (
    <div className="step-actions">
      {actions.map((action) => (
        <ActionButton
          key={action}
          action={`graph_steps.${action}`}
          type={action === "retry" && isFailed(step) ? "primary" : "default"}
          onClick={() => setOpen(action)}
        >
          {t(`${action}.verb`)}
        </ActionButton>
      ))}
      {open && <StepDialog run={run} step={step} action={open} onClose={() => setOpen(null)} />}
    </div>
  );
}

function StepDialog({ run, step, action, onClose }: StepDialogProps) {
  const { t } = useTranslation("graphs");
  const queries = useQueryClient();
  const key = useIdempotencyKey();
  const again = stepsFrom(step.name, run.steps);
  const running = run.steps.find((one) => one.state === "RELEASED" && again.includes(one.name));
  const impossible = action === "retry" && running !== undefined;
  const effect = impossible
    ? [t("retry.impossible", { name: running.name })]
    : [
        ...(action === "retry" ? retryEffect(run, step, again, t) : passEffect(run, step, action, t)),
        t("audited"),
      ];
  return (
    <ConfirmDialog
      title={t(`${action}.title`, { name: step.name })}
      verb={t(`${action}.verb`)}
      effect={effect}
      impossible={impossible}
      onConfirm={async () => {
        const changed = await SEND[action](run.id, step.name, withIdempotencyKey(key));
        queries.setQueryData(runKey(run.id), changed);
        await queries.invalidateQueries({ queryKey: runKey(run.id) });
      }}
      onClose={onClose}
    />
  );
}

function retryEffect(
  run: GraphRunDetail,
  step: RunStepView,
  again: string[],
  t: TFunction<"graphs">,
): string[] {
  const lines = [t("retry.runs", { count: again.length, names: namesText(again, t) })];
  const onlyFailed = step.children !== null && step.children !== undefined && isFailed(step);
  if (onlyFailed) lines.push(t("retry.mapped", { name: step.name }));
  if (isFailed(step)) lines.push(t("retry.sameKey", { name: step.name }));
  const repeats = run.steps.some((one) => again.includes(one.name) && one.state === "SUCCESS");
  if (repeats) lines.push(t("retry.newKey"));
  return lines;
}

function passEffect(
  run: GraphRunDetail,
  step: RunStepView,
  action: "skip" | "succeed",
  t: TFunction<"graphs">,
): string[] {
  const next = followersOf(run.steps).get(step.name) ?? [];
  return [
    action === "skip" ? t("skip.goes") : t("succeed.counts"),
    t(`${action}.no`),
    next.length > 0 ? t(`${action}.follow`, { names: namesText(next, t) }) : t(`${action}.last`),
  ];
}

function namesText(names: string[], t: TFunction<"graphs">): string {
  const first = names.slice(0, MAX_NAMES).join(", ");
  return names.length > MAX_NAMES
    ? t("retry.more", { names: first, count: names.length - MAX_NAMES })
    : first;
}

interface StepDialogProps {
  run: GraphRunDetail;
  step: RunStepView;
  action: StepAction;
  onClose: () => void;
}

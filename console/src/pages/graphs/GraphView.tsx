import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { JobView, StepView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { Json } from "../../parts/Json";
import { Card } from "../../parts/Page";
import { TargetText } from "../jobs/Texts";
import { GraphDrawing, type StepFace } from "./GraphDrawing";
import { RunList } from "./RunList";
import { StepLinks, StepPanel } from "./StepPanel";
import { StepTable } from "./StepTable";

const NO_PATH: readonly string[] = [];

/** The definition of a graph as a drawing and as a table, and its runs. */
export function GraphView({ job, steps }: { job: JobView; steps: StepView[] }) {
  const { t } = useTranslation("graphs");
  const navigate = useNavigate({ from: "/jobs/$job" });
  const chosen = useSearch({ from: "/jobs/$job" }).step;
  const onChoose = (step: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, step }), replace: true, resetScroll: false });
  const step = steps.find((one) => one.name === chosen);
  const columns: Column<StepView>[] = [
    { title: t("steps.needs"), show: (one) => one.needs.join(", ") || "–" },
    { title: t("steps.rule"), show: (one) => (one.needs.length > 0 ? t(`rule.${one.rule}`) : "–") },
    { title: t("steps.target"), kind: "wide", show: (one) => <TargetText target={one.target} /> },
    { title: t("steps.retry"), kind: "number", show: (one) => one.retry.max_failures as number },
  ];
  return (
    <>
      <RunList job={job} />
      <div className="graph-page">
        <Card title={t("drawing.title")}>
          <GraphDrawing
            structure={`${job.id} ${job.version}`}
            steps={steps}
            faceOf={useFaces(steps)}
            path={NO_PATH}
            chosen={step?.name}
            onChoose={onChoose}
          />
        </Card>
        <DefinedStep step={step} onChoose={onChoose} />
      </div>
      <StepTable steps={steps} columns={columns} onChoose={onChoose} />
    </>
  );
}

/** Returns what the drawing says about each step of a definition. */
function useFaces(steps: StepView[]): (name: string) => StepFace {
  const byName = useMemo(() => new Map(steps.map((step) => [step.name, step])), [steps]);
  return useCallback(
    (name) => {
      const step = byName.get(name);
      if (!step) return { tone: "idle", detail: "" };
      return { tone: "idle", detail: calledBy(step), mark: step.each ? "× n" : undefined };
    },
    [byName],
  );
}

function calledBy({ target }: StepView): string {
  if (target.kind === "queue") return target.name;
  return target.kind === "topic"
    ? `${target.broker}/${target.topic}`
    : target.url.replace(/^https?:\/\/[^/]+/, "");
}

function DefinedStep({ step, onChoose }: { step: StepView | undefined; onChoose: (name?: string) => void }) {
  const { t } = useTranslation(["graphs", "jobs"]);
  if (!step)
    return <StepPanel name={undefined} hint={t("steps.chooseDefined")} onClose={() => onChoose(undefined)} />;
  return (
    <StepPanel name={step.name} hint="" onClose={() => onChoose(undefined)}>
      <dl className="facts">
        <dt>{t("steps.target")}</dt>
        <dd>
          <TargetText target={step.target} />
        </dd>
        <dt>{t("steps.needs")}</dt>
        <dd>
          <StepLinks names={step.needs} onChoose={onChoose} />
        </dd>
        {step.needs.length > 0 && (
          <>
            <dt>{t("steps.rule")}</dt>
            <dd>{t(`rule.${step.rule}`)}</dd>
          </>
        )}
        <dt>{t("steps.retry")}</dt>
        <dd>{step.retry.max_failures as number}</dd>
        <dt>{t("steps.priority")}</dt>
        <dd>{t(`jobs:priority.${step.priority}`)}</dd>
        {step.each && (
          <>
            <dt>{t("steps.concurrency")}</dt>
            <dd>{step.concurrency ?? "–"}</dd>
            <dt>{t("steps.tolerated")}</dt>
            <dd>{`${(step.tolerated_failures ?? 0) * 100} %`}</dd>
          </>
        )}
      </dl>
      {step.each && (
        <>
          <h4>{t("steps.each")}</h4>
          <Json value={step.each} label={t("steps.each")} />
        </>
      )}
      {step.payload !== null && step.payload !== undefined && (
        <>
          <h4>{t("steps.payload")}</h4>
          <Json value={step.payload} label={t("steps.payload")} />
        </>
      )}
    </StepPanel>
  );
}

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { getJob } from "../../api/generated/client";
import type { GraphRunDetail, RunStepView, StepState } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";
import { GraphDrawing, type StepFace } from "./GraphDrawing";
import { InstanceLink, RunStep } from "./RunStep";
import { useRun } from "./run-query";
import { StateFilter } from "./StateFilter";
import { StepLinks } from "./StepPanel";
import { StepTable } from "./StepTable";
import { RunTag, StepTag, toneOfStep } from "./StepTag";
import { handedText, useStepResult } from "./step-result";
import { criticalPath, isFailed } from "./structure";

const route = getRouteApi("/graph-runs/$instance");
const MAX_NAMED = 3;
const MAX_PATH = 10;

/** A run of a graph: its drawing with live states, what a person can do with a step, and all steps as a table. */
export function RunPage() {
  const { t } = useTranslation("graphs");
  const { instance } = route.useParams();
  const query = useRun(instance);
  if (!query.data)
    return (
      <Page title={t("run")}>
        {query.error ? (
          <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Loading />
        )}
      </Page>
    );
  return <RunDetail run={query.data} error={query.error} onRetry={() => void query.refetch()} />;
}

function RunDetail({
  run,
  error,
  onRetry,
}: {
  run: GraphRunDetail;
  error: Error | null;
  onRetry: () => void;
}) {
  const { t } = useTranslation("graphs");
  const { step: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const onChoose = (step: string | undefined) =>
    void navigate({ search: { step }, replace: true, resetScroll: false });
  const path = useMemo(() => criticalPath(run.steps), [run.steps]);
  const step = run.steps.find((one) => one.name === chosen);
  const result = useStepResult(step);
  const job = useQuery({
    queryKey: ["job", run.job_id],
    queryFn: ({ signal }) => getJob(run.job_id, { signal }),
    staleTime: 60_000,
    retry: false,
  });
  const name = job.data?.name ?? run.job_id;
  const first = run.steps.find(isFailed) ?? run.steps.find((one) => one.state === "RELEASED");
  return (
    <Page title={name} mark={<RunTag run={run} />}>
      {error && <ErrorMessage error={error} onRetry={onRetry} />}
      <BlockedLine run={run} />
      <div className="graph-page">
        <Card title={t("drawing.title")}>
          <GraphDrawing
            structure={run.id}
            steps={run.steps}
            faceOf={useFaces(run.steps)}
            path={path}
            chosen={step?.name}
            first={first?.name}
            handed={handedText(result)}
            onChoose={onChoose}
          />
          {path.length > 1 && <p className="soft">{t("drawing.critical")}</p>}
        </Card>
        <RunStep
          run={run}
          step={step}
          result={result}
          isCritical={path.includes(step?.name ?? "")}
          onChoose={onChoose}
        />
        <Card title={t("run")} id="run">
          <RunFacts run={run} name={name} path={path} onChoose={onChoose} />
        </Card>
      </div>
      <RunSteps run={run} path={path} onChoose={onChoose} />
    </Page>
  );
}

/** Returns what the drawing says about each step of a run. */
function useFaces(steps: RunStepView[]): (name: string) => StepFace {
  const { t } = useTranslation("graphs");
  const byName = useMemo(() => new Map(steps.map((step) => [step.name, step])), [steps]);
  return useCallback(
    (name) => {
      const step = byName.get(name);
      if (!step) return { tone: "idle", detail: "" };
      const state = t(`state.${step.state}`);
      const detail = step.reason ? `${state} · ${step.reason}` : state;
      return { tone: toneOfStep(step.state), detail, mark: elementsText(step, t) };
    },
    [byName, t],
  );
}

function elementsText(
  step: RunStepView,
  t: ReturnType<typeof useTranslation<"graphs">>["t"],
): string | undefined {
  if (step.children === null || step.children === undefined) return undefined;
  const failed = (step.child_states?.DEAD ?? 0) + (step.child_states?.CANCELLED ?? 0);
  const all = t("drawing.elements", { count: step.children });
  return failed > 0 ? `${all}, ${t("drawing.failed", { count: failed })}` : all;
}

function BlockedLine({ run }: { run: GraphRunDetail }) {
  const { t } = useTranslation("graphs");
  if (run.state !== "OPEN" || !run.blocked) return null;
  const failed = run.steps.filter(isFailed);
  const named = failed
    .slice(0, MAX_NAMED)
    .map((one) => t("blocked.step", { name: one.name, reason: one.reason ?? t(`state.${one.state}`) }));
  if (failed.length > MAX_NAMED) named.push(t("blocked.more", { count: failed.length - MAX_NAMED }));
  const count = run.steps.filter((one) => one.state === "BLOCKED").length;
  return (
    <p className="hold">
      <strong>{t("blocked.title", { steps: named.join(", ") })}</strong> {t("blocked.waits", { count })}
    </p>
  );
}

function RunFacts({ run, name, path, onChoose }: RunFactsProps) {
  const { t } = useTranslation("graphs");
  return (
    <dl className="facts">
      <dt>{t("facts.graph")}</dt>
      <dd>
        <Link to="/jobs/$job" params={{ job: name }} search={{ view: "graph" }}>
          {name}
        </Link>{" "}
        <span className="soft">{t("facts.version", { version: run.job_version })}</span>
      </dd>
      <dt>{t("facts.fire")}</dt>
      <dd>
        <Timestamp at={run.fire_time} />
      </dd>
      <dt>{t("facts.started")}</dt>
      <dd>
        <Timestamp at={run.started_at} />
      </dd>
      <dt>{t(run.ended_at ? "facts.ended" : "facts.deadline")}</dt>
      <dd>
        <Timestamp at={run.ended_at ?? run.deadline_at} />
      </dd>
      <dt>{t("facts.instance")}</dt>
      <dd>
        <InstanceLink id={run.id} text={run.id} />
      </dd>
      {path.length > 0 && (
        <>
          <dt>{t("facts.path")}</dt>
          <dd>
            <PathLinks path={path} onChoose={onChoose} />
          </dd>
        </>
      )}
    </dl>
  );
}

/** The last steps of the critical path: those before them are seen in the drawing. */
function PathLinks({ path, onChoose }: { path: string[]; onChoose: (name: string) => void }) {
  return (
    <>
      {path.length > MAX_PATH && "… → "}
      <StepLinks names={path.slice(-MAX_PATH)} onChoose={onChoose} between="→" />
    </>
  );
}

function RunSteps({
  run,
  path,
  onChoose,
}: {
  run: GraphRunDetail;
  path: string[];
  onChoose: (name: string) => void;
}) {
  const { t } = useTranslation("graphs");
  const [state, setState] = useState<StepState>();
  const counts: Partial<Record<StepState, number>> = {};
  for (const step of run.steps) counts[step.state] = (counts[step.state] ?? 0) + 1;
  const critical = new Set(path);
  const columns: Column<RunStepView>[] = [
    { title: t("steps.state"), kind: "tight", show: (step) => <StepTag state={step.state} /> },
    { title: t("steps.reason"), show: (step) => step.reason && <code>{step.reason}</code> },
    { title: t("steps.elements"), kind: "tight", show: (step) => elementsText(step, t) },
    { title: t("steps.needs"), show: (step) => step.needs.join(", ") || "–" },
    { title: t("steps.since"), kind: "tight", show: (step) => <Timestamp at={step.changed_at} /> },
    { title: t("steps.critical"), show: (step) => critical.has(step.name) && t("steps.yes") },
    {
      title: t("steps.instance"),
      show: (step) => (
        <InstanceLink id={step.instance_id} text={step.instance_id ? t("steps.openInstance") : "–"} />
      ),
    },
  ];
  const filtered = state && counts[state] ? run.steps.filter((step) => step.state === state) : run.steps;
  return (
    <StepTable
      steps={filtered}
      columns={columns}
      filter={<StateFilter counts={counts} chosen={state} onChoose={setState} />}
      onChoose={onChoose}
    />
  );
}

interface RunFactsProps {
  run: GraphRunDetail;
  name: string;
  path: string[];
  onChoose: (name: string) => void;
}

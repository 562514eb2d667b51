import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { GraphRunDetail, RunStepView } from "../../api/generated/models";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Json } from "../../parts/Json";
import { Timestamp } from "../../parts/Timestamp";
import { Children } from "./Children";
import { StepActions } from "./StepActions";
import { StepLinks, StepPanel } from "./StepPanel";
import { StepTag } from "./StepTag";
import type { StepResult } from "./step-result";
import { followersOf } from "./structure";

/** A step of a run: its state and why, what can be done, what it returned, and its elements. */
export function RunStep({ run, step, result, isCritical, onChoose }: RunStepProps) {
  const { t } = useTranslation("graphs");
  const followers = useMemo(() => followersOf(run.steps), [run.steps]);
  if (!step)
    return <StepPanel name={undefined} hint={t("steps.choose")} onClose={() => onChoose(undefined)} />;
  return (
    <StepPanel
      name={step.name}
      hint=""
      mark={<StepTag state={step.state} />}
      onClose={() => onChoose(undefined)}
    >
      <dl className="facts">
        {step.reason && (
          <>
            <dt>{t("steps.reason")}</dt>
            <dd>
              <code>{step.reason}</code>
            </dd>
          </>
        )}
        <dt>{t("steps.since")}</dt>
        <dd>
          <Timestamp at={step.changed_at} />
        </dd>
        <dt>{t("steps.instance")}</dt>
        <dd>
          <InstanceLink id={step.instance_id} text={step.instance_id ? t("steps.openInstance") : "–"} />
        </dd>
        <dt>{t("steps.needs")}</dt>
        <dd>
          <StepLinks names={step.needs} onChoose={onChoose} />
          {step.needs.length > 0 && <span className="soft">{t(`rule.${step.rule}`)}</span>}
        </dd>
        <dt>{t("steps.followers")}</dt>
        <dd>
          <StepLinks names={followers.get(step.name) ?? []} onChoose={onChoose} />
        </dd>
        {isCritical && (
          <>
            <dt>{t("steps.critical")}</dt>
            <dd>{t("steps.yes")}</dd>
          </>
        )}
        {step.generation > 0 && (
          <>
            <dt>{t("steps.again")}</dt>
            <dd>{step.generation}</dd>
          </>
        )}
      </dl>
      <StepActions key={`${step.name} ${step.state}`} run={run} step={step} />
      {step.children !== null && step.children !== undefined && (
        <Children key={step.name} run={run} step={step} />
      )}
      <Result name={step.name} result={result} />
    </StepPanel>
  );
}

export function InstanceLink({ id, text }: { id: string | null | undefined; text: string }) {
  if (!id) return <>{text}</>;
  return (
    <Link to="/instances/$instance" params={{ instance: id }}>
      {text}
    </Link>
  );
}

function Result({ name, result }: { name: string; result: StepResult }) {
  const { t } = useTranslation("logs");
  if (result.missing === "unasked") return null;
  return (
    <>
      <h4>{t("result.title")}</h4>
      {result.error ? (
        <ErrorMessage error={result.error} />
      ) : result.missing ? (
        <p className="soft">{t(`result.${result.missing}`)}</p>
      ) : (
        <Json value={result.value} label={`${t("result.title")} ${name}`} />
      )}
    </>
  );
}

interface RunStepProps {
  run: GraphRunDetail;
  step: RunStepView | undefined;
  result: StepResult;
  isCritical: boolean;
  onChoose: (name: string | undefined) => void;
}

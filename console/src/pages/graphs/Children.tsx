import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getGraphRunsInstanceStepChildren } from "../../api/generated/client";
import type { GraphChildView, GraphRunDetail, RunStepView, StepState } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { PagedTable } from "../../parts/PagedTable";
import { InstanceLink } from "./RunStep";
import { StateFilter } from "./StateFilter";
import { StepTag } from "./StepTag";

const REFRESH_MS = 5_000;
const PAGE_SIZE = 20;

/** The elements of a mapped step: how many are in each state, and a list that opens. */
export function Children({ run, step }: { run: GraphRunDetail; step: RunStepView }) {
  const { t } = useTranslation("graphs");
  const [state, setState] = useState<StepState>();
  const [open, setOpen] = useState(false);
  return (
    <>
      <h4>{t("children.counts", { count: step.children ?? 0 })}</h4>
      <StateFilter
        counts={step.child_states ?? {}}
        chosen={open ? state : undefined}
        onChoose={(chosen) => {
          setState(chosen);
          setOpen(true);
        }}
      />
      <Button size="small" className="children-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        {t(open ? "children.hide" : "children.show")}
      </Button>
      {open && <ChildList key={state ?? ""} run={run} step={step} state={state} />}
    </>
  );
}

function ChildList({
  run,
  step,
  state,
}: {
  run: GraphRunDetail;
  step: RunStepView;
  state: StepState | undefined;
}) {
  const { t } = useTranslation("graphs");
  const [cursor, setCursor] = useState<string>();
  const query = useQuery({
    queryKey: ["graph-run", run.id, "children", step.name, state, cursor],
    queryFn: ({ signal }) =>
      getGraphRunsInstanceStepChildren(run.id, step.name, { state, cursor, limit: PAGE_SIZE }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: run.state === "OPEN" ? REFRESH_MS : false,
  });
  const columns: Column<GraphChildView>[] = [
    {
      title: t("children.number"),
      kind: "number",
      show: (one) => <InstanceLink id={one.instance_id} text={String(one.number)} />,
    },
    { title: t("steps.state"), kind: "tight", show: (one) => <StepTag state={one.state} /> },
    { title: t("steps.reason"), show: (one) => one.reason && <code>{one.reason}</code> },
  ];
  return (
    <PagedTable<GraphChildView>
      query={query}
      caption={t("children.title")}
      columns={columns}
      id={(one) => String(one.number)}
      empty={<p className="soft">{t("children.none")}</p>}
      cursor={cursor}
      onCursor={setCursor}
    />
  );
}

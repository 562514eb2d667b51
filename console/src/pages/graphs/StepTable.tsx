import { Button, Input } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { type Column, DataTable } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import type { LinkedStep } from "./structure";

const PAGE_SIZE = 50;

/** All steps as a table, in the order of the graph: the facts of the drawing for screen readers and phones. */
export function StepTable<Step extends LinkedStep>({
  steps,
  columns,
  filter,
  onChoose,
}: StepTableProps<Step>) {
  const { t } = useTranslation("graphs");
  const [wanted, setWanted] = useState("");
  const [page, setPage] = useState(0);
  const found = steps.filter((step) => step.name.toLowerCase().includes(wanted.toLowerCase()));
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const current = Math.min(page, pages - 1);
  const from = current * PAGE_SIZE;
  const name: Column<Step> = {
    title: t("steps.name"),
    show: (step) => (
      <button
        type="button"
        className="step-link"
        aria-label={t("steps.open", { name: step.name })}
        onClick={() => onChoose(step.name)}
      >
        {step.name}
      </button>
    ),
  };
  return (
    <Card title={t("steps.title")} id="steps">
      <div className="step-filters">
        {filter}
        <Input
          allowClear
          aria-label={t("steps.find")}
          placeholder={t("steps.find")}
          className="step-find"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      </div>
      <DataTable
        caption={t("steps.title")}
        columns={[name, ...columns]}
        items={found.slice(from, from + PAGE_SIZE)}
        id={(step) => step.name}
        empty={<p className="soft">{t("steps.none")}</p>}
      />
      {pages > 1 && (
        <div className="pager">
          <Button disabled={current === 0} onClick={() => setPage(current - 1)}>
            {t("steps.before")}
          </Button>
          <span className="soft">
            {t("steps.of", {
              from: from + 1,
              to: Math.min(from + PAGE_SIZE, found.length),
              count: found.length,
            })}
          </span>
          <Button disabled={current + 1 >= pages} onClick={() => setPage(current + 1)}>
            {t("steps.next")}
          </Button>
        </div>
      )}
    </Card>
  );
}

interface StepTableProps<Step> {
  steps: Step[];
  columns: Column<Step>[];
  filter?: ReactNode;
  onChoose: (name: string) => void;
}

import { Button } from "antd";
import { Fragment, type ReactNode, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Card } from "../../parts/Page";
import "./graphs.css";

/** What is known about the chosen step, beside the drawing. */
export function StepPanel({ name, hint, mark, onClose, children }: StepPanelProps) {
  const { t } = useTranslation("graphs");
  const head = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (name !== undefined) head.current?.scrollIntoView({ block: "nearest" }); // it was chosen in the table, or on a phone
  }, [name]);
  return (
    <Card title={t("steps.name")} id="step">
      {name === undefined ? (
        <p className="soft">{hint}</p>
      ) : (
        <div className="step-panel">
          <div className="step-head" ref={head}>
            <h3>{name}</h3>
            {mark}
            <Button className="close" size="small" onClick={onClose}>
              {t("steps.close")}
            </Button>
          </div>
          {children}
        </div>
      )}
    </Card>
  );
}

interface StepPanelProps {
  name: string | undefined;
  hint: string;
  mark?: ReactNode;
  onClose: () => void;
  children?: ReactNode;
}

/** The names of steps; each chooses that step. */
export function StepLinks({ names, between, onChoose }: StepLinksProps) {
  if (names.length === 0) return <>–</>;
  return (
    <span className="step-links">
      {names.map((name, place) => (
        <Fragment key={name}>
          {place > 0 && between}
          <button type="button" className="step-link" onClick={() => onChoose(name)}>
            {name}
          </button>
        </Fragment>
      ))}
    </span>
  );
}

interface StepLinksProps {
  names: readonly string[];
  between?: string;
  onChoose: (name: string) => void;
}

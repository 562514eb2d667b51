import { type ReactNode, useId } from "react";
import "./fields.css";

/** A label with its field: the children get the id that the label names. */
export function Field({ label, help, children }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {help && <div className="soft">{help}</div>}
    </div>
  );
}

interface FieldProps {
  label: string;
  help?: string;
  children: (id: string) => ReactNode;
}

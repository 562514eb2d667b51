import { type ReactNode, useId } from "react";
import "./desk.css";

/** A label with its field: whatever is inside gets the id that the label names. */
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

import type { ReactNode } from "react";
import { Line } from "./Line";
import "./parts.css";

/** Nothing is here yet: what would be, and the line that makes the first one. */
export function Empty({ title, help, line, children }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <div className="soft">{help}</div>
      {line && <Line text={line} />}
      {children}
    </div>
  );
}

interface EmptyProps {
  title: string;
  help: string;
  line?: string;
  children?: ReactNode;
}

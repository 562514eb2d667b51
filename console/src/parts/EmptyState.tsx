import type { ReactNode } from "react";
import { CopyableText } from "./CopyableText";
import "./parts.css";

/** The text of an empty list, with the command that creates the first item. */
export function EmptyState({ title, help, line, children }: EmptyStateProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <div className="soft">{help}</div>
      {line && <CopyableText text={line} />}
      {children}
    </div>
  );
}

interface EmptyStateProps {
  title: string;
  help: string;
  line?: string;
  children?: ReactNode;
}

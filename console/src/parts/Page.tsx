import { type ReactNode, useEffect } from "react";
import "./parts.css";

/** A page: its title, its actions and its content. The title is also the title of the window. */
export function Page({ title, mark, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Horae`;
  }, [title]);
  return (
    <>
      <div className="page-head">
        <h1>{title}</h1>
        {mark}
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

interface PageProps {
  title: string;
  mark?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A section of a page. */
export function Card({ title, id, children }: { title: string; id?: string; children: ReactNode }) {
  return (
    <section className="card" aria-label={title} id={id}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

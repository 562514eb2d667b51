import { type ReactNode, useEffect } from "react";
import "./parts.css";

/** A page: its name, what can be done on it, and the rest. The name is the window's, too. */
export function Page({ title, mark, acts, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Horae`;
  }, [title]);
  return (
    <>
      <div className="page-head">
        <h1>{title}</h1>
        {mark}
        {acts && <div className="acts">{acts}</div>}
      </div>
      {children}
    </>
  );
}

interface PageProps {
  title: string;
  mark?: ReactNode;
  acts?: ReactNode;
  children: ReactNode;
}

/** One subject of a page. */
export function Card({ title, id, children }: { title: string; id?: string; children: ReactNode }) {
  return (
    <section className="card" aria-label={title} id={id}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

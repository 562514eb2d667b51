import { writeJson } from "../api/json";
import "./desk.css";

/** A value as the API tells it; text is shown as it is, and nothing in it is ever read as markup. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section className="json" tabIndex={0} aria-label={label}>
      <pre>{typeof value === "string" ? value : writeJson(value, 2)}</pre>
    </section>
  );
}

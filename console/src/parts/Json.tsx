import { writeJson } from "../api/json";
import "./fields.css";

/** A value as JSON, or a text as it is. Its content is never read as markup. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section className="json" tabIndex={0} aria-label={label}>
      <pre>{typeof value === "string" ? value : writeJson(value, 2)}</pre>
    </section>
  );
}

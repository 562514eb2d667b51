import { Input } from "antd";
import "./desk.css";

/** A moment in the reader's own zone, to the minute; the API gets it with its offset. Empty: none. */
export function When({ label, value, onChange, id }: WhenProps) {
  return (
    <Input
      id={id}
      type="datetime-local"
      step={1}
      aria-label={label}
      title={label}
      className="when"
      value={value ? local(value) : ""}
      onChange={(event) =>
        onChange(event.target.value ? new Date(event.target.value).toISOString() : undefined)
      }
    />
  );
}

interface WhenProps {
  label: string;
  value: string | undefined;
  onChange: (at: string | undefined) => void;
  id?: string;
}

/** An instant as the browser's own field wants it. */
export function local(at: string): string {
  const date = new Date(at);
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

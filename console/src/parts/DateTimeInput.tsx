import { Input } from "antd";
import { toLocalInput } from "./times";
import "./fields.css";

/** An input for an instant in the reader's time zone; empty for none. */
export function DateTimeInput({ label, value, onChange, id }: DateTimeInputProps) {
  return (
    <Input
      id={id}
      type="datetime-local"
      step={1}
      aria-label={label}
      title={label}
      className="when"
      value={value ? toLocalInput(value) : ""}
      onChange={(event) =>
        onChange(event.target.value ? new Date(event.target.value).toISOString() : undefined)
      }
    />
  );
}

interface DateTimeInputProps {
  label: string;
  value: string | undefined;
  onChange: (at: string | undefined) => void;
  id?: string;
}

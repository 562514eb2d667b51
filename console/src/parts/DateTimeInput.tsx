import { Input } from "antd";
import { fromZonedInput, toZonedInput, zoneMark } from "./times";
import "./fields.css";

/** An input for an instant in the zone of the switch, which stands beside it; empty for none. */
export function DateTimeInput({ label, value, onChange, id }: DateTimeInputProps) {
  const input = (
    <Input
      id={id}
      type="datetime-local"
      step={1}
      aria-label={label}
      title={label}
      className="when"
      value={value ? toZonedInput(value) : ""}
      suffix={<span className="zone-mark">{zoneMark(value ?? new Date())}</span>}
      onChange={(event) => onChange(event.target.value ? fromZonedInput(event.target.value) : undefined)}
    />
  );
  if (id) return input;
  return (
    <span className="when-field">
      <span className="soft" aria-hidden="true">
        {label}
      </span>
      {input}
    </span>
  );
}

interface DateTimeInputProps {
  label: string;
  value: string | undefined;
  onChange: (at: string | undefined) => void;
  id?: string;
}

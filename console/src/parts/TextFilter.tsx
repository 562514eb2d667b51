import { Input } from "antd";
import { useEffect, useState } from "react";

/** A text filter; it applies on Enter or when the field loses the focus. */
export function TextFilter({ label, value, onSend }: TextFilterProps) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  return (
    <Input
      aria-label={label}
      placeholder={label}
      className="short"
      allowClear
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        if (event.target.value === "" && value) onSend(undefined);
      }}
      onPressEnter={() => onSend(text.trim() || undefined)}
      onBlur={() => (text.trim() || undefined) !== value && onSend(text.trim() || undefined)}
    />
  );
}

interface TextFilterProps {
  label: string;
  value: string | undefined;
  onSend: (value: string | undefined) => void;
}

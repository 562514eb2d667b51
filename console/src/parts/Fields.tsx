import { Input, InputNumber, Select } from "antd";
import { Field } from "./Field";

/** A text field with its label; with `rows`, a text area. */
export function TextField({ label, help, value, rows, onChange }: TextProps) {
  return (
    <Field label={label} help={help}>
      {(id) =>
        rows ? (
          <Input.TextArea
            id={id}
            rows={rows}
            spellCheck={false}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <Input
            id={id}
            autoComplete="off"
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}

interface TextProps {
  label: string;
  help?: string;
  value: string;
  rows?: number;
  onChange: (value: string) => void;
}

/** A number field with its label; empty means the minimum. */
export function NumberField({ label, help, value, min, max, onChange }: NumberProps) {
  return (
    <Field label={label} help={help}>
      {(id) => (
        <InputNumber
          id={id}
          min={min}
          max={max}
          value={value}
          onChange={(number) => onChange(number ?? min)}
        />
      )}
    </Field>
  );
}

interface NumberProps {
  label: string;
  help?: string;
  value: number;
  min: number;
  max: number;
  onChange: (value: number) => void;
}

/** A number field with its label; empty is null, and the placeholder shows what applies then. */
export function OptionalNumberField({ label, help, value, min, max, placeholder, onChange }: OptionalProps) {
  return (
    <Field label={label} help={help}>
      {(id) => (
        <InputNumber
          id={id}
          min={min}
          max={max}
          placeholder={placeholder}
          value={value}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

interface OptionalProps {
  label: string;
  help?: string;
  value: number | null;
  min: number;
  max: number;
  placeholder?: string;
  onChange: (value: number | null) => void;
}

/** A select field with its label; `name` returns the text of a choice. */
export function ChoiceField<Choice extends string>({
  label,
  help,
  value,
  choices,
  name,
  onChange,
}: ChoiceProps<Choice>) {
  return (
    <Field label={label} help={help}>
      {(id) => (
        <Select
          id={id}
          className="full"
          value={value}
          options={choices.map((choice) => ({ value: choice, label: name(choice) }))}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

interface ChoiceProps<Choice extends string> {
  label: string;
  help?: string;
  value: Choice;
  choices: readonly Choice[];
  name: (choice: Choice) => string;
  onChange: (value: Choice) => void;
}

import { Input, InputNumber, Select } from "antd";
import { Field } from "./Field";

/** A line of text with its label; of many rows, a text. */
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

/** A number with its label; what is emptied is the least that it may be. */
export function NumberField({ label, help, value, min, max, onChange }: NumberProps) {
  return (
    <Field label={label} help={help}>
      {(id) => (
        <InputNumber id={id} min={min} max={max} value={value} onChange={(told) => onChange(told ?? min)} />
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

/** One of a few, with its label; `name` is what a person calls each. */
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

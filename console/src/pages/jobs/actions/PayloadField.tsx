import { Input } from "antd";
import { useTranslation } from "react-i18next";
import { Field } from "../../../parts/Field";
import "../jobs.css";

/** The payload of one run. */
export function PayloadField({
  text,
  error,
  onChange,
}: {
  text: string;
  error: string | null;
  onChange: (text: string) => void;
}) {
  const { t } = useTranslation("jobs");
  return (
    <Field label={t("trigger.payload")}>
      {(id) => (
        <>
          <Input.TextArea
            id={id}
            rows={4}
            value={text}
            status={error ? "error" : undefined}
            onChange={(event) => onChange(event.target.value)}
          />
          {error && <span className="wrong">{t("form.badJson", { error })}</span>}
        </>
      )}
    </Field>
  );
}

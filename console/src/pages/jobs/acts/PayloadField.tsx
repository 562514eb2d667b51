import { Input } from "antd";
import { useTranslation } from "react-i18next";
import { Field } from "../../../parts/Field";

/** A payload for this once. */
export function PayloadField({
  text,
  wrong,
  tell,
}: {
  text: string;
  wrong: string | null;
  tell: (text: string) => void;
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
            status={wrong ? "error" : undefined}
            onChange={(event) => tell(event.target.value)}
          />
          {wrong && <span className="wrong">{t("form.badJson", { wrong })}</span>}
        </>
      )}
    </Field>
  );
}

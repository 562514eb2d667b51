import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { ApiError, UnreachableError } from "../api/errors";
import "./parts.css";

/** An error: its title, the advice, the invalid fields and the code. */
export function ErrorMessage({
  error,
  title,
  onRetry,
}: {
  error: unknown;
  title?: string;
  onRetry?: () => void;
}) {
  const { t } = useTranslation(["errors", "frame"]);
  const texts = useErrorTexts(error);
  return (
    <div className="error-message" role="alert">
      <strong>{title ?? texts.title}</strong>
      <div>{texts.advice}</div>
      {texts.fields.length > 0 && (
        <ul>
          {texts.fields.map((field) => (
            <li key={field}>{field}</li>
          ))}
        </ul>
      )}
      {texts.code && (
        <div className="soft">
          {t("code")} <code>{texts.code}</code>
        </div>
      )}
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          {t("frame:again")}
        </Button>
      )}
    </div>
  );
}

interface ErrorTexts {
  title: string;
  advice: string;
  fields: string[];
  code?: string;
}

function useErrorTexts(error: unknown): ErrorTexts {
  const { t, i18n } = useTranslation("errors");
  if (error instanceof UnreachableError)
    return {
      title: t("unreachable.title"),
      advice: t("unreachable.advice"),
      fields: [],
      code: error.message,
    };
  if (error instanceof ApiError) {
    const known = i18n.exists(error.code, { ns: "errors" });
    return {
      title: error.message,
      advice: known ? t(error.code as "SCH_422_INVALID") : t("unknown.advice"),
      fields: error.errors.slice(1).map((one) => `${one.at.slice(1).join(".")}: ${one.message}`),
      code: error.code,
    };
  }
  return { title: t("unknown.title"), advice: t("unknown.advice"), fields: [], code: String(error) };
}

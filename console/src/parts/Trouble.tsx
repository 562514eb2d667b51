import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { Refused, Unreachable } from "../api/trouble";
import "./parts.css";

/** What went wrong, what to do about it, and where exactly; for a reader at three in the morning. */
export function Trouble({ error, title, onAgain }: { error: unknown; title?: string; onAgain?: () => void }) {
  const { t } = useTranslation(["trouble", "frame"]);
  const said = useSaid(error);
  return (
    <div className="trouble" role="alert">
      <strong>{title ?? said.title}</strong>
      <div>{said.advice}</div>
      {said.places.length > 0 && (
        <ul>
          {said.places.map((place) => (
            <li key={place}>{place}</li>
          ))}
        </ul>
      )}
      {said.code && (
        <div className="soft">
          {t("code")} <code>{said.code}</code>
        </div>
      )}
      {onAgain && (
        <Button size="small" onClick={onAgain}>
          {t("frame:again")}
        </Button>
      )}
    </div>
  );
}

interface Said {
  title: string;
  advice: string;
  places: string[];
  code?: string;
}

function useSaid(error: unknown): Said {
  const { t, i18n } = useTranslation("trouble");
  if (error instanceof Unreachable)
    return {
      title: t("unreachable.title"),
      advice: t("unreachable.advice"),
      places: [],
      code: error.message,
    };
  if (error instanceof Refused) {
    const known = i18n.exists(error.code, { ns: "trouble" });
    return {
      title: error.message,
      advice: known ? t(error.code as "SCH_422_INVALID") : t("unknown.advice"),
      places: error.errors.slice(1).map((fault) => `${fault.at.slice(1).join(".")}: ${fault.message}`),
      code: error.code,
    };
  }
  return { title: t("unknown.title"), advice: t("unknown.advice"), places: [], code: String(error) };
}

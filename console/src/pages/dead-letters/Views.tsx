import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import "./dead-letters.css";

const VIEWS = [
  { name: "list", to: "/dead-letters" },
  { name: "causes", to: "/dead-letters/causes" },
  { name: "replays", to: "/dead-letters/replays" },
] as const;

/** The views of the dead letters: each one, by cause, and the paced replays. */
export function Views({ view }: { view: (typeof VIEWS)[number]["name"] }) {
  const { t } = useTranslation("triage");
  return (
    <nav className="views" aria-label={t("views.label")}>
      {VIEWS.map((one) => (
        <Link
          key={one.name}
          to={one.to}
          search={{}}
          aria-current={one.name === view ? "page" : undefined}
          className={one.name === view ? "view here" : "view"}
        >
          {t(`views.${one.name}`)}
        </Link>
      ))}
    </nav>
  );
}

import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { Me } from "../../api/generated/models";
import { OpenAlerts } from "./OpenAlerts";
import { PAGES } from "./pages";

/** Links to the pages that the user may see. */
export function Menu({ me, onChoose }: { me: Me; onChoose?: () => void }) {
  const { t } = useTranslation("frame");
  const pages = PAGES.filter((page) => me.actions.includes(page.needs));
  return (
    <nav aria-label={t("menu.title")}>
      <ul className="menu">
        {pages.map((page) => (
          <li key={page.name}>
            <Link to={page.to as string} activeOptions={{ exact: page.to === "/" }} onClick={onChoose}>
              {t(`pages.${page.name}`)} {page.name === "alerts" && <OpenAlerts />}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { Page } from "../parts/Page";

/** The page of an unknown address. */
export function NotFoundPage() {
  const { t } = useTranslation("frame");
  return (
    <Page title={t("notFound.title")}>
      <p>{t("notFound.help")}</p>
      <Link to="/">{t("notFound.go")}</Link>
    </Page>
  );
}

import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { setSearch } from "./open";

export function SearchButton() {
  const { t } = useTranslation("frame");
  return (
    <Button onClick={() => setSearch(true)} aria-keyshortcuts="/" className="search-open">
      <span className="search-word">{t("search.open")}</span> <kbd>/</kbd>
    </Button>
  );
}

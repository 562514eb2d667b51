import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { setSearchOpen } from "./search-open";

export function SearchButton() {
  const { t } = useTranslation("frame");
  return (
    <Button onClick={() => setSearchOpen(true)} aria-keyshortcuts="/">
      <span className="search-word">{t("search.open")}</span> <kbd>/</kbd>
    </Button>
  );
}

import { Button } from "antd";
import { useTranslation } from "react-i18next";
import "./parts.css";

/** Buttons for the next and the first page. The cursor is part of the address, so that Back works. */
export function Pager({
  cursor,
  next,
  onCursor,
}: {
  cursor?: string;
  next?: string | null;
  onCursor: (cursor?: string) => void;
}) {
  const { t } = useTranslation("frame");
  if (!cursor && !next) return null;
  return (
    <div className="pager">
      <Button disabled={!cursor} onClick={() => onCursor(undefined)}>
        {t("list.first")}
      </Button>
      <Button disabled={!next} onClick={() => onCursor(next ?? undefined)}>
        {t("list.more")}
      </Button>
    </div>
  );
}

import { Button } from "antd";
import { useTranslation } from "react-i18next";
import "./parts.css";

/** The next page of a list and the way back to the first; the cursor belongs into the address, so Back works. */
export function Pager({
  cursor,
  next,
  go,
}: {
  cursor?: string;
  next?: string | null;
  go: (cursor?: string) => void;
}) {
  const { t } = useTranslation("frame");
  if (!cursor && !next) return null;
  return (
    <div className="pager">
      <Button disabled={!cursor} onClick={() => go(undefined)}>
        {t("list.first")}
      </Button>
      <Button disabled={!next} onClick={() => go(next ?? undefined)}>
        {t("list.more")}
      </Button>
    </div>
  );
}

import { Spin } from "antd";
import { useTranslation } from "react-i18next";

/** Something is being asked for; readers are told, too. */
export function Loading() {
  const { t } = useTranslation("frame");
  return (
    <div role="status" aria-label={t("loading")}>
      <Spin />
    </div>
  );
}

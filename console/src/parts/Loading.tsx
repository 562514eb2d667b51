import { Spin } from "antd";
import { useTranslation } from "react-i18next";

/** A spinner with a status text for screen readers. */
export function Loading() {
  const { t } = useTranslation("frame");
  return (
    <div role="status" aria-label={t("loading")}>
      <Spin />
    </div>
  );
}

import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postAlertAcknowledge } from "../../api/generated/client";
import type { AlertView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { useAlertName } from "./Marks";
import { SilenceAlertDialog } from "./silences/SilenceAlertDialog";

/** The actions of an open alert: acknowledge and silence. */
export function Actions({ alert, size }: { alert: AlertView; size?: "small" }) {
  const { t } = useTranslation(["alerts", "alertSettings"]);
  const [open, setOpen] = useState<"acknowledge" | "silence" | null>(null);
  const name = useAlertName()(alert);
  const close = () => setOpen(null);
  if (alert.state === "RESOLVED") return null;
  return (
    <Space size={4}>
      {alert.state === "OPEN" && (
        <ActionButton action="alerts.acknowledge" size={size} onClick={() => setOpen("acknowledge")}>
          {t("acknowledge.verb")}
        </ActionButton>
      )}
      <ActionButton action="silences.put" size={size} onClick={() => setOpen("silence")}>
        {t("alertSettings:silences.verbOne")}
      </ActionButton>
      {open === "acknowledge" && (
        <ConfirmDialog
          title={t("acknowledge.title", { name })}
          verb={t("acknowledge.verb")}
          effect={[t("acknowledge.repeat"), t("acknowledge.end"), t("acknowledge.audited")]}
          onConfirm={async () => {
            await postAlertAcknowledge(alert.id);
            await queries.invalidateQueries({ queryKey: ["alerts"] });
          }}
          onClose={close}
        />
      )}
      {open === "silence" && <SilenceAlertDialog alert={alert} onClose={close} />}
    </Space>
  );
}

import { Modal } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { useHealth } from "../app/health/useHealth";
import { ErrorMessage } from "./ErrorMessage";

/**
 * Asks for confirmation of an action. `verb` is the text of the button; `effect` lists the effects in order, or the
 * reason why the action is `impossible`.
 */
export function ConfirmDialog({
  title,
  verb,
  effect,
  danger,
  impossible,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  const { t } = useTranslation("frame");
  const { readOnly } = useHealth();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={title}
      okText={verb}
      cancelText={t("cancel")}
      okButtonProps={{ danger: danger === true, disabled: readOnly || impossible === true }}
      confirmLoading={busy}
      onOk={confirm}
      onCancel={onClose}
      destroyOnHidden
    >
      {!impossible && <h3 className="soft">{t("effect")}</h3>}
      <ul>
        {effect.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {children}
      {error !== null && <ErrorMessage error={error} />}
    </Modal>
  );
}

interface ConfirmDialogProps {
  title: string;
  verb: string;
  effect: string[];
  danger?: boolean;
  impossible?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
}

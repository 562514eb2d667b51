import { Modal } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { useHealth } from "../app/health/useHealth";
import { Trouble } from "./Trouble";

/**
 * Shows what an action will do before it does it. `verb` is the button's word; `effect` the consequences, in order, or
 * why the action is `impossible`.
 */
export function Confirm({ title, verb, effect, danger, impossible, act, onClose, children }: ConfirmProps) {
  const { t } = useTranslation("frame");
  const { readOnly } = useHealth();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const go = async () => {
    setBusy(true);
    setError(null);
    try {
      await act();
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
      onOk={go}
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
      {error !== null && <Trouble error={error} />}
    </Modal>
  );
}

interface ConfirmProps {
  title: string;
  verb: string;
  effect: string[];
  danger?: boolean;
  impossible?: boolean;
  act: () => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
}

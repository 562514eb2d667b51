import { useTranslation } from "react-i18next";
import { type PauseAction, PauseButton } from "../../parts/PauseButton";
import { StateTag } from "../../parts/StateTag";
import "./tenants.css";

/** The status of a tenant, with the button that pauses or resumes it. */
export function TenantStatus({ name, status, resource, onConfirm }: TenantStatusProps) {
  const { t } = useTranslation("tenants");
  if (!status) return null;
  if (status !== "ACTIVE" && status !== "PAUSED")
    return (
      <p className="tenant-status">
        <strong>{status}</strong>
      </p>
    );
  return (
    <p className="tenant-status">
      <StateTag state={status} />
      <PauseButton
        resource={resource}
        size="small"
        danger
        paused={status === "PAUSED"}
        texts={(verb) => ({
          title: t(`${verb}.title`, { name }),
          verb: t(`${verb}.verb`),
          effect: [t(`${verb}.first`), t(`${verb}.second`), t(`${verb}.third`)],
        })}
        onConfirm={onConfirm}
      />
    </p>
  );
}

interface TenantStatusProps {
  name: string;
  status: string | undefined;
  resource: "tenant" | "tenants";
  onConfirm: (verb: PauseAction) => Promise<unknown>;
}

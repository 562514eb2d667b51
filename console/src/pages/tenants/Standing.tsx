import { useTranslation } from "react-i18next";
import { Pausing, type Verb } from "../../parts/Pausing";
import { StateTag } from "../../parts/StateTag";
import "./tenants.css";

/** Whether a tenant goes on or is paused, and the button for the other. */
export function Standing({ name, status, of, act }: StandingProps) {
  const { t } = useTranslation("tenants");
  if (!status) return null;
  if (status !== "ACTIVE" && status !== "PAUSED")
    return (
      <p className="standing">
        <strong>{status}</strong>
      </p>
    );
  return (
    <p className="standing">
      <StateTag state={status} />
      <Pausing
        of={of}
        size="small"
        danger
        paused={status === "PAUSED"}
        says={(verb) => ({
          title: t(`${verb}.title`, { name }),
          verb: t(`${verb}.verb`),
          effect: [t(`${verb}.first`), t(`${verb}.second`), t(`${verb}.third`)],
        })}
        act={act}
      />
    </p>
  );
}

interface StandingProps {
  name: string;
  status: string | undefined;
  of: "tenant" | "tenants";
  act: (verb: Verb) => Promise<unknown>;
}

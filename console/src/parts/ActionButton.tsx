import { Button, type ButtonProps, Tooltip } from "antd";
import { usePermission } from "../app/permissions";

/** A button for an action of the role table. While the action is not allowed, its tooltip gives the reason. */
export function ActionButton({ action, ...rest }: { action: string } & ButtonProps) {
  const { allowed, reason } = usePermission(action);
  if (allowed) return <Button {...rest} />;
  // a disabled button gets no focus and no pointer, so its tooltip would never open
  return (
    <Tooltip title={reason} trigger={["hover", "focus"]}>
      <Button
        {...rest}
        aria-disabled
        className="action-off"
        onClick={(event) => event.preventDefault()}
        htmlType="button"
      />
    </Tooltip>
  );
}

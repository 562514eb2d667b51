import { Button, type ButtonProps, Tooltip } from "antd";
import { useCan } from "../app/can";

/** A button that does an action of the table of roles; where that may not be done now, it says why. */
export function Act({ action, ...rest }: { action: string } & ButtonProps) {
  const { allowed, reason } = useCan(action);
  if (allowed) return <Button {...rest} />;
  // a disabled button gets no focus and no pointer, so its reason would reach nobody
  return (
    <Tooltip title={reason} trigger={["hover", "focus"]}>
      <Button
        {...rest}
        aria-disabled
        className="act-off"
        onClick={(event) => event.preventDefault()}
        htmlType="button"
      />
    </Tooltip>
  );
}

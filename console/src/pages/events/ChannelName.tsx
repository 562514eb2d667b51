import type { IntakeView, SubscriptionView } from "../../api/generated/models";
import { StateTag } from "../../parts/StateTag";

/** A channel by its name; one that is paused says so. */
export function ChannelName({ one }: { one: IntakeView | SubscriptionView }) {
  return (
    <>
      {one.name} {one.paused_at && <StateTag state="PAUSED" />}
    </>
  );
}

import type { IntakeView, SubscriptionView } from "../../api/generated/models";
import { StateTag } from "../../parts/StateTag";

/** The name of a channel, with a mark while it is paused. */
export function ChannelName({ one }: { one: IntakeView | SubscriptionView }) {
  return (
    <>
      {one.name} {one.paused_at && <StateTag state="PAUSED" />}
    </>
  );
}

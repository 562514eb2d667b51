import { useEffect, useState } from "react";
import type { QueueView } from "../../api/generated/models";
import { addSample, type DepthSample } from "./depths";

/** The samples of each queue since the page was opened. */
export function useDepths(queues: QueueView[] | undefined, readAt: number): Map<string, DepthSample[]> {
  const [depths, setDepths] = useState(new Map<string, DepthSample[]>());
  useEffect(() => {
    if (!queues) return;
    setDepths(
      (known) =>
        new Map(
          queues.map((queue) => [
            queue.name,
            addSample(known.get(queue.name) ?? [], { at: readAt, waiting: queue.waiting }),
          ]),
        ),
    );
  }, [queues, readAt]);
  return depths;
}

import type { NewPacedReplay } from "../../api/generated/models";
import { isReplayable } from "./filters";

/** A filter for open dead letters, as the API has it. */
export type DeadLettersWanted = Pick<NewPacedReplay, "cause" | "job" | "tag" | "error_code">;

/** Which open dead letters a change concerns; `name` is what people read, `open` how many there are if it is known. */
export interface Selection {
  filter: DeadLettersWanted;
  name: string;
  open?: number;
}

/** The filter without its empty parts: the API refuses a change without any part. */
export function compact(filter: DeadLettersWanted): DeadLettersWanted {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => Boolean(value)));
}

export const isEmpty = (selection: Selection): boolean => Object.keys(compact(selection.filter)).length === 0;

/** How many of a page of dead letters are open. */
export const countOpen = (items: { replay_status: string }[]): number =>
  items.filter((one) => isReplayable(one.replay_status)).length;

/** The reasons that the server writes for a paced replay, with the name of their text; the groups are its blanks. */
const REASONS = [
  { name: "canaryFailed", text: /^the canary failed: (?<failed>\d+) of (?<sent>\d+) did not succeed$/ },
  { name: "tooManyFailures", text: /^(?<failed>\d+) dead \w+ died again, and (?<max>\d+) may$/ },
  { name: "allEnded", text: /^every dead letter has its outcome$/ },
  { name: "stoppedBy", text: /^stopped by (?<name>.+)$/ },
  { name: "canary", text: /^the outcomes of (?<replays>\d+) replays of the canary$/ },
  { name: "outcomes", text: /^the outcomes of (?<replays>\d+) replays$/ },
  { name: "measure", text: /^the measure (?<name>.+)$/ },
  { name: "liveWork", text: /^live work: (?<replays>\d+) replays have no outcome yet$/ },
  { name: "failedStep", text: /^a step that failed \((?<name>\w+)\); it is tried again$/ },
  { name: "budget", text: /^the retry budget of the tenant$/ },
] as const;

export type ReasonName = (typeof REASONS)[number]["name"];

/** The blanks of the texts of reasons. */
export interface ReasonBlanks {
  failed?: string;
  sent?: string;
  max?: string;
  name?: string;
  replays?: string;
}

/** Finds the text of a reason, with its blanks; null for one that is not known: it is shown as it is. */
export function findReason(reason: string): { name: ReasonName; blanks: ReasonBlanks } | null {
  for (const { name, text } of REASONS) {
    const found = text.exec(reason);
    if (found) return { name, blanks: { ...found.groups } };
  }
  return null;
}

/** The draft in the form of a source, and its conversion to a request body. Fields outside of the form are kept. */
import type { PutSource, SourceView } from "../../api/generated/models";

export const KINDS = ["http", "sql", "push"] as const;
export type Kind = (typeof KINDS)[number];

export interface Draft {
  type: string;
  kind: Kind;
  url: string;
  signing: string;
  dsn: string;
  statement: string;
  ca: string;
  every: number;
  grace: number;
  orphans: "keep" | "cancel";
  most_cancelled: number;
}

export const EMPTY: Draft = {
  type: "",
  kind: "http",
  url: "",
  signing: "",
  dsn: "",
  statement: "",
  ca: "",
  every: 300,
  grace: 60,
  orphans: "keep",
  most_cancelled: 1000,
};

type JsonObject = Record<string, unknown>;

/** Returns the draft of a source, with defaults for the fields that the API leaves out. */
export function draftOf(source: SourceView): Draft {
  const { origin, ...rest } = source.spec as { origin: JsonObject };
  return { ...EMPTY, ...rest, ...(origin as Partial<Draft>), type: source.type };
}

export function specOf(draft: Draft, base?: SourceView): PutSource {
  const { every, grace, orphans, most_cancelled } = draft;
  const before = base?.spec.origin as JsonObject | undefined;
  const kept = before?.kind === draft.kind ? before : {};
  const origin = { ...kept, ...originOf(draft) } as unknown as PutSource["origin"];
  return { origin, every, grace, orphans, most_cancelled };
}

function originOf({ kind, url, signing, dsn, statement, ca }: Draft): JsonObject {
  switch (kind) {
    case "http":
      return { kind, url, signing: signing || null, ca: ca || null };
    case "sql":
      return { kind, dsn, statement, ca: ca || null };
    case "push":
      return { kind };
  }
}

/** The draft in the form of a silence, and its conversion to a request body. */
import type { AlertKind, NewSilence, SilenceView } from "../../../api/generated/models";
import { EMPTY_SELECTOR, type SelectorDraft, selectorDraftOf, selectorOf } from "../SelectorFields";
import { DURATIONS_MS } from "./silence-times";

export interface Draft extends SelectorDraft {
  name: string;
  starts_at: string;
  ends_at: string;
  kinds: AlertKind[];
  comment: string;
}

/** Returns the draft of a new silence: the next hour. */
export const emptyDraft = (now: number): Draft => ({
  ...EMPTY_SELECTOR,
  name: "",
  starts_at: new Date(now).toISOString(),
  ends_at: new Date(now + DURATIONS_MS.h1).toISOString(),
  kinds: [],
  comment: "",
});

export const draftOf = (silence: SilenceView): Draft => ({
  ...selectorDraftOf(silence),
  name: silence.name,
  starts_at: silence.starts_at,
  ends_at: silence.ends_at,
  kinds: silence.kinds,
  comment: silence.comment,
});

export const silenceOf = (draft: Draft): NewSilence => ({
  ...selectorOf(draft),
  starts_at: draft.starts_at,
  ends_at: draft.ends_at,
  kinds: draft.kinds,
  comment: draft.comment.trim(),
});

import { useState } from "react";

/** One Idempotency-Key per form: created when it opens, and kept for all clicks and retries. */
export function useIdempotencyKey(): string {
  return useState(() => crypto.randomUUID())[0];
}

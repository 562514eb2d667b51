import { useState } from "react";

/** One Idempotency-Key for a form: made when it opens, kept over clicks and retries, gone with it. */
export function useOneKey(): string {
  return useState(() => crypto.randomUUID())[0];
}

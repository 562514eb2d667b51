import { ApiError } from "./errors";
import { getInstanceResult } from "./generated/client";

/** What an instance returned. `missing` is a text of `logs.result`. */
export interface FoundResult {
  value?: unknown;
  missing?: "none" | "gone";
}

/** Reads a result. That there is none, or none any more, is an answer as well. */
export async function findResult(instance: string, signal: AbortSignal): Promise<FoundResult> {
  try {
    return { value: (await getInstanceResult(instance, { signal })).result };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { missing: "none" };
    if (error instanceof ApiError && error.status === 410) return { missing: "gone" };
    throw error;
  }
}

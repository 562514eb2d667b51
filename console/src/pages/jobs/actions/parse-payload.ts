import { readJson } from "../../../api/json";

/** Parses typed JSON. An empty text has no value; invalid JSON returns the error. */
export function parsePayload(text: string): { value: unknown; error: string | null } {
  if (text.trim() === "") return { value: undefined, error: null };
  try {
    return { value: readJson(text), error: null };
  } catch (error) {
    return { value: undefined, error: error instanceof Error ? error.message : String(error) };
  }
}

import { readJson } from "../../../api/json";

/** What a person typed as JSON: nothing is nothing, and what cannot be read is said so. */
export function json(text: string): { value: unknown; wrong: string | null } {
  if (text.trim() === "") return { value: undefined, wrong: null };
  try {
    return { value: readJson(text), wrong: null };
  } catch (error) {
    return { value: undefined, wrong: error instanceof Error ? error.message : String(error) };
  }
}

/** Writes the rows of a list as CSV or JSON, page by page; the whole is never in memory as objects. */
import { writeJson } from "../../api/json";

export type Format = "csv" | "json";

/** A page of a list, as the API returns it. */
export interface ListPage {
  items: object[];
  next?: string | null;
}

export type ReadPage = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage>;

export const MAX_ROWS = 100_000;
/** The rows of a page that the API returns at most. */
export const MAX_PAGE_SIZE = 200;
const DANGEROUS = /^[=+\-@\t\r]/;

/** Formats a value as a CSV field. A text that a spreadsheet would take for a formula gets an apostrophe. */
export function csvField(value: unknown): string {
  if (value === null || value === undefined) return "";
  const plain = typeof value === "object" ? writeJson(value) : String(value);
  const text = typeof value === "string" && DANGEROUS.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (values: unknown[]): string => `${values.map(csvField).join(",")}\r\n`;

/** Yields the text of all pages from the first one on, `MAX_ROWS` rows at most; `onRows` hears how many there are. */
export async function* exportedText(
  read: ReadPage,
  format: Format,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): AsyncGenerator<string> {
  let cursor: string | undefined;
  let rows = 0;
  let names: string[] = [];
  if (format === "json") yield "[";
  do {
    const page = await read(cursor, signal);
    const items = page.items.slice(0, MAX_ROWS - rows);
    if (rows === 0 && format === "csv") {
      names = Object.keys(items[0] ?? {});
      yield csvLine(names);
    }
    const text = (item: object, index: number) =>
      format === "csv"
        ? csvLine(names.map((name) => (item as Record<string, unknown>)[name]))
        : `${rows + index > 0 ? ",\n" : "\n"}${writeJson(item)}`;
    yield items.map(text).join("");
    rows += items.length;
    onRows(rows);
    cursor = page.next ?? undefined;
  } while (cursor && rows < MAX_ROWS && !signal.aborted);
  if (format === "json") yield "\n]\n";
}

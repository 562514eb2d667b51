/**
 * JSON whose integers stay as they were written. JavaScript's own reader rounds those beyond 53 bits; here they are
 * `bigint`. The API takes no text with NUL, so a text that begins with it can stand for a number on its way.
 */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const MARK = "\u0000";
const MARKED = /"\\u0000(-?\d+)"/g;

Object.defineProperty(BigInt.prototype, "toJSON", {
  configurable: true,
  value(this: bigint): string {
    return `${MARK}${this}`;
  },
});

export function readJson(text: string): unknown {
  const marked = text.replace(TOKEN, (token) =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"\\u0000${token}"` : token,
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

export function writeJson(value: unknown, indent?: number): string {
  return unmarked(JSON.stringify(value, null, indent));
}

/** What `JSON.stringify` made of a value, with its large integers as they are meant. */
export function unmarked(text: string): string {
  return text.replace(MARKED, "$1");
}

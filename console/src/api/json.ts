/**
 * JSON that keeps large integers exactly. `JSON.parse` rounds integers beyond 53 bits; here they are `bigint`.
 * The API accepts no text with NUL, so a text that begins with NUL marks a large integer inside JSON.
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
  return restoreIntegers(JSON.stringify(value, null, indent));
}

/** Replaces the marked texts in the output of `JSON.stringify` by their large integers. */
export function restoreIntegers(text: string): string {
  return text.replace(MARKED, "$1");
}

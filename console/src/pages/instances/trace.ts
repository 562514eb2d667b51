const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";

/** The trace of an instance is the number behind its id, which every call carries in `traceparent`. */
export function traceOf(id: string): string {
  const letters = id.slice(id.indexOf("_") + 1);
  let number = 0n;
  for (const letter of letters) number = number * 32n + BigInt(Math.max(0, LETTERS.indexOf(letter)));
  return (number & ((1n << 128n) - 1n)).toString(16).padStart(32, "0");
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns the trace id of an instance: its id as a number. Every call carries it in `traceparent`. */
export function traceOf(id: string): string {
  const digits = id.slice(id.indexOf("_") + 1);
  let number = 0n;
  for (const digit of digits) number = number * 32n + BigInt(Math.max(0, DIGITS.indexOf(digit)));
  return (number & ((1n << 128n) - 1n)).toString(16).padStart(32, "0");
}

/** What an address says about a list, read with care: anyone may write an address. */

export function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function oneOf<T extends string>(value: unknown, known: readonly T[]): T | undefined {
  return known.find((one) => one === value);
}

export function someOf<T extends string>(value: unknown, known: readonly T[]): T[] | undefined {
  const found = known.filter((one) => (Array.isArray(value) ? value : [value]).includes(one));
  return found.length > 0 ? found : undefined;
}

export function moment(value: unknown): string | undefined {
  const said = text(value);
  return said && !Number.isNaN(Date.parse(said)) ? new Date(said).toISOString() : undefined;
}

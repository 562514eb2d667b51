/** Reads search parameters. Anyone may write an address: invalid values are ignored. */

export function readText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function readChoice<T extends string>(value: unknown, choices: readonly T[]): T | undefined {
  return choices.find((one) => one === value);
}

export function readChoices<T extends string>(value: unknown, choices: readonly T[]): T[] | undefined {
  const chosen = choices.filter((one) => (Array.isArray(value) ? value : [value]).includes(one));
  return chosen.length > 0 ? chosen : undefined;
}

export function readTime(value: unknown): string | undefined {
  const text = readText(value);
  return text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : undefined;
}

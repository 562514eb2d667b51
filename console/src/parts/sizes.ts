const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Formats a number of bytes with three digits at most: 1.5 GiB. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = value >= 100 || unit === 0 ? 0 : value >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits)).toLocaleString("en")} ${UNITS[unit]}`;
}

/** Times as people read them. Everything is computed from instants; zones are only for showing. */

export const myZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(language: string, zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${zone} ${JSON.stringify(options)}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(language, { ...options, timeZone: zone, hourCycle: "h23" });
  formats.set(key, made);
  return made;
}

/** Date and time to the second, digits only: it lines up in columns and reads the same in both languages. */
export function dateTime(at: Date | string, zone = myZone()): string {
  const parts = Object.fromEntries(
    format("en", zone, {
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    })
      .formatToParts(new Date(at))
      .map((part) => [part.type, part.value]),
  );
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`;
}

/** Hours and minutes, and the day before them where it is not today. */
export function clockTime(at: Date | string, zone = myZone()): string {
  return dateTime(at, zone).slice(11, 16);
}

export function weekday(at: Date | string, language: string, zone = myZone()): string {
  return format(language, zone, { weekday: "short" }).format(new Date(at));
}

/** The offset of a zone at an instant, as +08:00. */
export function offset(at: Date | string, zone = myZone()): string {
  const told = format("en", zone, { timeZoneName: "longOffset" })
    .formatToParts(new Date(at))
    .find((part) => part.type === "timeZoneName")?.value;
  return told === "GMT" || told === undefined ? "+00:00" : told.replace("GMT", "");
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** How long ago, or how far ahead, in the largest unit that fits. */
export function ago(at: Date | string | number, now: number, language: string): string {
  const passed = new Date(at).getTime() - now;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(passed) >= length) ?? ["second", 1_000];
  return new Intl.RelativeTimeFormat(language, { numeric: "always", style: "short" }).format(
    Math.trunc(passed / size),
    unit,
  );
}

/** A length of time in milliseconds, short. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return two(ms, 60_000, "min", 1_000, "s");
  if (ms < 172_800_000) return two(ms, 3_600_000, "h", 60_000, "min");
  return two(ms, 86_400_000, "d", 3_600_000, "h");
}

/** In two units; the smaller one only where something is left for it. */
function two(ms: number, large: number, word: string, small: number, less: string): string {
  const whole = Math.round(ms / small) * small; // first, so that the rest never reaches a large one
  const rest = Math.round((whole % large) / small);
  return `${Math.floor(whole / large)} ${word}${rest > 0 ? ` ${rest} ${less}` : ""}`;
}

/** Formats times and durations. Computations use instants; zones are for display only. */

import { displayZone, myZone } from "./zone";

export { myZone };

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(language: string, zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${zone} ${JSON.stringify(options)}`;
  const known = formats.get(key);
  if (known) return known;
  const created = new Intl.DateTimeFormat(language, { ...options, timeZone: zone, hourCycle: "h23" });
  formats.set(key, created);
  return created;
}

/** Formats date and time to the second, in digits only: aligned in columns, and the same in both languages. */
export function dateTime(at: Date | string, zone = displayZone()): string {
  const parts = Object.fromEntries(
    formatOf("en", zone, {
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

/** Formats hours and minutes. */
export function clockTime(at: Date | string, zone = displayZone()): string {
  return dateTime(at, zone).slice(11, 16);
}

/** Formats date and time with the mark of the zone: 2026-11-18 20:00:00 +08:00. */
export const markedTime = (at: Date | string, zone = displayZone()): string =>
  `${dateTime(at, zone)} ${zoneMark(at, zone)}`;

/** Returns the mark of a zone beside a time: its UTC offset, or UTC. */
export function zoneMark(at: Date | string, zone = displayZone()): string {
  const shift = offset(at, zone);
  return shift === "+00:00" ? "UTC" : shift;
}

/** The value of a `datetime-local` field for an instant in a zone. */
export const toZonedInput = (at: Date | string, zone = displayZone()): string =>
  dateTime(at, zone).replace(" ", "T");

/** Reads the value of a `datetime-local` field in a zone. A time that the clocks jump over is moved by the jump. */
export function fromZonedInput(text: string, zone = displayZone()): string {
  const wanted = Date.parse(`${text}Z`);
  let at = wanted;
  for (let step = 0; step < 2; step += 1) at += wanted - Date.parse(`${toZonedInput(new Date(at), zone)}Z`);
  return new Date(at).toISOString();
}

export function weekday(at: Date | string, language: string, zone = myZone()): string {
  return formatOf(language, zone, { weekday: "short" }).format(new Date(at));
}

/** Returns the UTC offset of a zone at an instant, as +08:00. */
export function offset(at: Date | string, zone = myZone()): string {
  const name = formatOf("en", zone, { timeZoneName: "longOffset" })
    .formatToParts(new Date(at))
    .find((part) => part.type === "timeZoneName")?.value;
  return name === "GMT" || name === undefined ? "+00:00" : name.replace("GMT", "");
}

/** The value of a `datetime-local` field for an instant: the reader's clock, to the second, without a zone. */
export function toLocalInput(at: Date | string): string {
  const date = new Date(at);
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** Formats the distance of an instant from now in its largest unit. */
export function ago(at: Date | string | number, now: number, language: string): string {
  const passed = new Date(at).getTime() - now;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(passed) >= length) ?? ["second", 1_000];
  return new Intl.RelativeTimeFormat(language, { numeric: "always", style: "short" }).format(
    Math.trunc(passed / size),
    unit,
  );
}

/** Formats a duration in milliseconds. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return formatTwoUnits(ms, 60_000, "min", 1_000, "s");
  if (ms < 172_800_000) return formatTwoUnits(ms, 3_600_000, "h", 60_000, "min");
  return formatTwoUnits(ms, 86_400_000, "d", 3_600_000, "h");
}

/** Formats a duration in seconds: nothing is 0 s, and not 0 ms. */
export const secondsText = (seconds: number): string => (seconds === 0 ? "0 s" : duration(seconds * 1_000));

/** Formats a duration in two units; without the smaller one if it is zero. */
function formatTwoUnits(
  ms: number,
  large: number,
  largeUnit: string,
  small: number,
  smallUnit: string,
): string {
  const whole = Math.round(ms / small) * small; // rounded first, so that the rest never reaches a whole large unit
  const rest = Math.round((whole % large) / small);
  return `${Math.floor(whole / large)} ${largeUnit}${rest > 0 ? ` ${rest} ${smallUnit}` : ""}`;
}

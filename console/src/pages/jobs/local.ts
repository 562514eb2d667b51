/** A time as a datetime field of the browser wants it: the reader's own clock, without a zone. */
export function local(at: Date): string {
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

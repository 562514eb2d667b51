/** The coming minutes as a field: one row for each hour of the clock, one column for each of its minutes. */
export interface Heat {
  hours: string[];
  cells: [minute: number, row: number, fires: number][];
  most: number;
}

const MINUTE = 60_000;

/** `since` is where the first minute begins; the clock is the reader's own. */
export function heat(since: string, perMinute: number[]): Heat {
  const begin = Math.floor(Date.parse(since) / MINUTE) * MINUTE;
  const rows = new Map<number, number>();
  const hours: string[] = [];
  const cells = perMinute.map((fires, index): Heat["cells"][number] => {
    const at = new Date(begin + index * MINUTE);
    const hour = at.getTime() - at.getMinutes() * MINUTE;
    const row = rows.get(hour) ?? rows.size;
    if (row === rows.size) {
      rows.set(hour, row);
      hours.push(`${String(at.getHours()).padStart(2, "0")}:00`);
    }
    return [at.getMinutes(), row, fires];
  });
  return { hours, cells, most: Math.max(0, ...perMinute) };
}

/** The load forecast as a heatmap: a row per hour of the clock, a column per minute. */
export interface Heatmap {
  hours: string[];
  cells: [minute: number, row: number, fires: number][];
  most: number;
}

const MINUTE_MS = 60_000;

/** Builds the heatmap. `since` is the start of the first minute; hours are in the reader's time zone. */
export function heatmapOf(since: string, perMinute: number[]): Heatmap {
  const begin = Math.floor(Date.parse(since) / MINUTE_MS) * MINUTE_MS;
  const rows = new Map<number, number>();
  const hours: string[] = [];
  const cells = perMinute.map((fires, index): Heatmap["cells"][number] => {
    const at = new Date(begin + index * MINUTE_MS);
    const hour = at.getTime() - at.getMinutes() * MINUTE_MS;
    const row = rows.get(hour) ?? rows.size;
    if (row === rows.size) {
      rows.set(hour, row);
      hours.push(`${String(at.getHours()).padStart(2, "0")}:00`);
    }
    return [at.getMinutes(), row, fires];
  });
  return { hours, cells, most: Math.max(0, ...perMinute) };
}

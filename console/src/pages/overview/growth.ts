import type { CellGrowthView, HeldDaysView, TableSizeView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

/** The days before a full disk from which on it is marked; `horae doctor` uses the same ones. */
const FULL_SOON_DAYS = 7;
const FULL_LATER_DAYS = 30;

/** Returns how a disk is marked that is full in so many days. */
export function fullTone(days: number): Tone {
  return days <= FULL_SOON_DAYS ? "bad" : days <= FULL_LATER_DAYS ? "warn" : "idle";
}

/** Returns who holds days back, as one text. */
export function holdersOf(held: HeldDaysView, compensations: (count: number) => string): string {
  return [...held.subscriptions, ...(held.unrelayed > 0 ? [compensations(held.unrelayed)] : [])].join(", ");
}

export interface BloatedTable {
  cell: string;
  name: string;
  dead: string;
  live: string;
}

/** Returns the tables of a cell that have many dead rows, with their counts as texts. */
export function bloatedTablesOf(cell: CellGrowthView): BloatedTable[] {
  const text = (one: TableSizeView) => ({
    cell: cell.cell,
    name: one.name,
    dead: one.dead_rows.toLocaleString("en"),
    live: one.live_rows.toLocaleString("en"),
  });
  return cell.tables.filter((one) => one.bloated).map(text);
}

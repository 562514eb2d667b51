import type { LinkedStep } from "./structure";

/** The size of a step and the room between steps, in pixels. */
export const BOX = { width: 176, height: 46, gapX: 76, gapY: 18, margin: 16 } as const;
/** The room that an edge takes in a column that it passes. */
const LANE_HEIGHT = 14;
/** With more passed columns than these, edges are drawn straight: laying them out would hold the page. */
const MAX_LANES = 4_000;
const SWEEPS = 6;

/** A rectangle in the drawing. */
export interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A step with its place. `column` counts the steps before it, `row` its place within the column. */
export interface PlacedStep {
  name: string;
  x: number;
  y: number;
  column: number;
  row: number;
}

/** An edge from a step to one that needs it, as an SVG path. */
export interface PlacedEdge {
  from: string;
  to: string;
  path: string;
  area: Area;
}

export interface Layout {
  steps: PlacedStep[];
  edges: PlacedEdge[];
  columns: string[][];
  width: number;
  height: number;
}

/** A step, or a place where an edge passes a column. */
interface Cell {
  name?: string;
  column: number;
  row: number;
  middle: number;
  height: number;
  before: Cell[];
  behind: Cell[];
}

interface Chain {
  from: string;
  to: string;
  cells: Cell[];
}

/**
 * Places the steps of a graph from left to right, each right of those that it needs.
 *
 * 1. The column of a step is the length of the longest chain of needs before it.
 * 2. An edge that passes columns gets a place in each of them.
 * 3. The cells of a column are sorted by the mean row of their neighbours, in sweeps to the right and to the left.
 * 4. Each cell is moved towards the middle of its neighbours as far as the order of its column allows.
 */
export function layOut(steps: readonly LinkedStep[]): Layout {
  const cells = cellsOf(steps);
  const columns: Cell[][] = [];
  for (const cell of cells.values()) addTo(columns, cell);
  const chains = chainsOf(steps, cells, columns);
  sortColumns(columns);
  placeColumns(columns);
  return drawn(columns, chains);
}

function cellsOf(steps: readonly LinkedStep[]): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  for (const step of steps) {
    const columns = step.needs.map((need) => (cells.get(need)?.column ?? -1) + 1);
    cells.set(step.name, newCell(Math.max(0, ...columns), BOX.height, step.name));
  }
  return cells;
}

function newCell(column: number, height: number, name?: string): Cell {
  return { name, column, height, row: 0, middle: 0, before: [], behind: [] };
}

function addTo(columns: Cell[][], cell: Cell): void {
  while (columns.length <= cell.column) columns.push([]);
  const column = columns[cell.column] ?? [];
  cell.row = column.length;
  column.push(cell);
}

function chainsOf(steps: readonly LinkedStep[], cells: Map<string, Cell>, columns: Cell[][]): Chain[] {
  const pairs = steps.flatMap((step) =>
    step.needs.flatMap((need) => {
      const from = cells.get(need);
      const to = cells.get(step.name);
      return from && to ? [{ from, to, needed: need, needing: step.name }] : [];
    }),
  );
  const lanes = pairs.reduce((sum, { from, to }) => sum + to.column - from.column - 1, 0);
  return pairs.map(({ from, to, needed, needing }) => {
    const between: Cell[] = [];
    if (lanes <= MAX_LANES)
      for (let column = from.column + 1; column < to.column; column += 1) {
        const lane = newCell(column, LANE_HEIGHT);
        addTo(columns, lane);
        between.push(lane);
      }
    const chain = [from, ...between, to];
    for (let place = 1; place < chain.length; place += 1) link(chain[place - 1], chain[place]);
    return { from: needed, to: needing, cells: chain };
  });
}

function link(before: Cell | undefined, behind: Cell | undefined): void {
  if (!before || !behind) return;
  before.behind.push(behind);
  behind.before.push(before);
}

function sortColumns(columns: Cell[][]): void {
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const rightwards = sweep % 2 === 0;
    for (const column of rightwards ? columns : [...columns].reverse()) {
      const wanted = new Map(
        column.map((cell) => [
          cell,
          mean(rightwards ? cell.before : cell.behind, (one) => one.row) ?? cell.row,
        ]),
      );
      column.sort((one, other) => (wanted.get(one) ?? 0) - (wanted.get(other) ?? 0));
      column.forEach((cell, row) => {
        cell.row = row;
      });
    }
  }
}

function placeColumns(columns: Cell[][]): void {
  for (const column of columns) place(column, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const rightwards = sweep % 2 === 0;
    for (const column of rightwards ? columns : [...columns].reverse())
      place(
        column,
        (cell) => mean(rightwards ? cell.before : cell.behind, (one) => one.middle) ?? cell.middle,
      );
  }
}

/** Moves the cells of a column as near as possible to where they want to be; their order stays, and none overlap. */
function place(column: Cell[], wanted: (cell: Cell) => number): void {
  const offsets: number[] = [];
  let end = 0;
  for (const cell of column) {
    offsets.push(end + cell.height / 2);
    end += cell.height + BOX.gapY;
  }
  // cells that would overlap are moved as one block, to the mean of what they want
  const blocks: { sum: number; count: number }[] = [];
  column.forEach((cell, index) => {
    let block = { sum: wanted(cell) - (offsets[index] ?? 0), count: 1 };
    for (
      let last = blocks.at(-1);
      last && last.sum / last.count >= block.sum / block.count;
      last = blocks.at(-1)
    ) {
      block = { sum: block.sum + last.sum, count: block.count + last.count };
      blocks.pop();
    }
    blocks.push(block);
  });
  let index = 0;
  for (const { sum, count } of blocks)
    for (let left = count; left > 0; left -= 1, index += 1) {
      const cell = column[index];
      if (cell) cell.middle = sum / count + (offsets[index] ?? 0);
    }
}

function mean(cells: readonly Cell[], of: (cell: Cell) => number): number | undefined {
  if (cells.length === 0) return undefined;
  return cells.reduce((sum, cell) => sum + of(cell), 0) / cells.length;
}

function drawn(columns: Cell[][], chains: Chain[]): Layout {
  const all = columns.flat();
  const top = all.reduce(
    (least, cell) => Math.min(least, cell.middle - cell.height / 2),
    Number.POSITIVE_INFINITY,
  );
  for (const cell of all) cell.middle = Math.round(cell.middle - top + BOX.margin);
  const bottom = all.reduce((most, cell) => Math.max(most, cell.middle + cell.height / 2), 0);
  const names = columns.map((column) => column.flatMap((cell) => cell.name ?? []));
  const rows = new Map(names.flatMap((column) => column.map((name, row) => [name, row] as const)));
  return {
    columns: names,
    steps: all.flatMap(({ name, column, middle }) =>
      name === undefined
        ? []
        : [{ name, column, x: left(column), y: middle - BOX.height / 2, row: rows.get(name) ?? 0 }],
    ),
    edges: chains.map(edgeOf),
    width: left(columns.length) - BOX.gapX + BOX.margin,
    height: bottom + BOX.margin,
  };
}

const left = (column: number): number => BOX.margin + column * (BOX.width + BOX.gapX);

function edgeOf({ from, to, cells }: Chain): PlacedEdge {
  const first = cells[0];
  const last = cells.at(-1);
  if (!first || !last) throw new Error("an edge has two ends");
  let path = `M${left(first.column) + BOX.width} ${first.middle}`;
  let at = first;
  for (const cell of cells.slice(1)) {
    path += curve(left(at.column) + BOX.width, at.middle, left(cell.column), cell.middle);
    if (cell.name === undefined) path += `H${left(cell.column) + BOX.width}`;
    at = cell;
  }
  const middles = cells.map((cell) => cell.middle);
  return {
    from,
    to,
    path,
    area: {
      left: left(first.column) + BOX.width,
      right: left(last.column),
      top: Math.min(...middles),
      bottom: Math.max(...middles),
    },
  };
}

function curve(x: number, y: number, toX: number, toY: number): string {
  const bend = Math.round((toX - x) / 2);
  return y === toY ? `H${toX}` : `C${x + bend} ${y} ${toX - bend} ${toY} ${toX} ${toY}`;
}

/** Whether two areas have a point in common. */
export const touch = (one: Area, other: Area): boolean =>
  one.left <= other.right && other.left <= one.right && one.top <= other.bottom && other.top <= one.bottom;

/** Returns the area of a placed step. */
export const areaOf = ({ x, y }: PlacedStep): Area => ({
  left: x,
  top: y,
  right: x + BOX.width,
  bottom: y + BOX.height,
});

/** Returns the step that an arrow key leads to: along an edge, or up and down in the column. */
export function neighbour(
  layout: Layout,
  step: PlacedStep,
  key: string,
  linked: { needs: readonly string[]; followers: readonly string[] },
): string | undefined {
  const column = layout.columns[step.column] ?? [];
  switch (key) {
    case "ArrowLeft":
      return linked.needs[0];
    case "ArrowRight":
      return linked.followers[0];
    case "ArrowUp":
      return column[step.row - 1];
    case "ArrowDown":
      return column[step.row + 1];
    case "Home":
      return layout.columns[0]?.[0];
    case "End":
      return layout.columns.at(-1)?.[0];
    default:
      return undefined;
  }
}

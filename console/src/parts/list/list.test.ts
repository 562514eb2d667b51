import { expect, test } from "vitest";
import { chunksOf, outcomeOf, wantedOf, withJobs } from "../../pages/jobs/bulk/selected-jobs";
import { readColumns, visibleColumns } from "./chosen-columns";
import { csvField, exportedText, type ListPage, MAX_ROWS } from "./export";
import { sortState } from "./sorting";
import { filtersOf, readViews, withView } from "./views";

const column = (id: string, extra = false) => ({ id, title: id, extra, show: () => id });
const COLUMNS = [column("name"), column("owner"), column("id", true)];
const names = (chosen: string[] | null) => visibleColumns(COLUMNS, chosen).map(({ id }) => id);

test("an extra column is hidden until it is chosen, and a table never has none", () => {
  expect(names(null)).toEqual(["name", "owner"]);
  expect(names(["id", "name"])).toEqual(["name", "id"]);
  expect(names([])).toEqual(["name", "owner"]);
  expect(names(["gone"])).toEqual(["name", "owner"]);
});

test("what somebody else wrote into the storage is not taken for columns or views", () => {
  for (const text of [null, "", "{", "{}", "[1]", "7"]) expect(readColumns(text)).toBeNull();
  for (const text of [null, "", "{", "{}", '[1, null, {"name": 2}]']) expect(readViews(text)).toEqual([]);
});

test("a view has the filters of the address without the place in the list, and replaces one of its name", () => {
  expect(filtersOf({ owner: "a", cursor: "x", open: "y", label: undefined })).toEqual({ owner: "a" });
  const views = withView([{ name: "b", filters: {} }], { name: "a", filters: { owner: "x" } });
  expect(views.map((view) => view.name)).toEqual(["a", "b"]);
  expect(withView(views, { name: "a", filters: {} })).toHaveLength(2);
  expect(readViews(JSON.stringify(views))).toEqual(views);
});

test("a CSV field is quoted where it must be, and is never a formula", () => {
  expect([null, undefined, 7, true, "a"].map(csvField)).toEqual(["", "", "7", "true", "a"]);
  expect(csvField('a "b", c')).toBe('"a ""b"", c"');
  expect(csvField({ team: "x" })).toBe('"{""team"":""x""}"');
  expect(csvField("=HYPERLINK(1)")).toBe("'=HYPERLINK(1)");
  expect(csvField(-3)).toBe("-3");
});

async function exported(pages: ListPage[], format: "csv" | "json"): Promise<string> {
  const parts: string[] = [];
  const read = async (cursor: string | undefined) => pages[Number(cursor ?? 0)] ?? { items: [] };
  for await (const part of exportedText(read, format, new AbortController().signal, () => {}))
    parts.push(part);
  return parts.join("");
}

test("all pages are exported, in the order of the list", async () => {
  const pages = [{ items: [{ a: 1, b: "x" }], next: "1" }, { items: [{ a: 2, b: null }] }];
  expect(await exported(pages, "csv")).toBe("a,b\r\n1,x\r\n2,\r\n");
  expect(JSON.parse(await exported(pages, "json"))).toEqual([
    { a: 1, b: "x" },
    { a: 2, b: null },
  ]);
  expect(JSON.parse(await exported([{ items: [] }], "json"))).toEqual([]);
});

test("an export ends at its bound, however long the list is", async () => {
  const items = Array.from({ length: 30_000 }, () => ({ a: 1 }));
  const rows = (await exported([{ items, next: "0" }], "csv")).split("\r\n").length - 2;
  expect(rows).toBe(MAX_ROWS);
});

test("a column says its order only where the API can sort by it", () => {
  const sorting = { by: "fire_time", onSort: () => {} };
  const fired = { sort: "fire_time" };
  expect([sortState(fired, sorting), sortState({ sort: "other" }, sorting)]).toEqual(["descending", "none"]);
  expect(sortState({ ...fired, soonestFirst: true }, sorting)).toBe("ascending");
  expect([sortState({}, sorting), sortState(fired, undefined)]).toEqual([undefined, undefined]);
});

test("a bulk action without a filter is limited to the jobs that it can change", () => {
  expect(wantedOf("pause", {})).toMatchObject({ status: "ACTIVE" });
  expect(wantedOf("resume", { contains: "x" })).toMatchObject({ status: "PAUSED", contains: "x" });
  expect(wantedOf("pause", { label: "team=a=b" })).toMatchObject({ labels: { team: "a=b" } });
  expect(wantedOf("pause", { label: "team" })).toMatchObject({ with_labels: ["team"], labels: undefined });
});

test("one job less than all is a selection of its own", () => {
  const job = { name: "a" } as Parameters<typeof withJobs>[1][number];
  const all = { isAll: true, names: new Set<string>() };
  expect(withJobs(all, [job], false)).toEqual({ isAll: false, names: new Set() });
  expect(withJobs({ isAll: false, names: new Set(["b"]) }, [job], true).names).toEqual(new Set(["b", "a"]));
});

test("an outcome names what changed and what did not", () => {
  const item = (name: string, ok: boolean) => ({ job_id: "job_1", name, ok });
  const outcome = outcomeOf([item("a", true), item("b", false)]);
  expect(outcome.changed).toEqual(["a"]);
  expect(outcome.refused.map(({ name }) => name)).toEqual(["b"]);
  expect(chunksOf([1, 2, 3], 2)).toEqual([[1, 2], [3]]);
});

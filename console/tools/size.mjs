// What the browser loads before the overview is painted, gzipped: the entry, its static imports, the route, the texts of
// the frame and of the overview in one language. Fails above the bound. Then what each page adds to the frame.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { listPages } from "./pages.ts";

const BOUND = 350 * 1024;
const ROOM = new URL("../../src/horae/console/", import.meta.url);
const OVERVIEW = "src/pages/overview/OverviewPage.tsx";
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", ROOM)));
const pages = listPages();

/** Adds the files of a chunk and of its static imports. */
function addFiles(name, files) {
  const chunk = manifest[name];
  if (!chunk) throw new Error(`no chunk ${name} in the build`);
  if (files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const css of chunk.css ?? []) files.add(css);
  for (const next of chunk.imports ?? []) addFiles(next, files);
}

function filesOf(names) {
  const files = new Set();
  for (const name of names) addFiles(name, files);
  return files;
}

const rootsOf = (page) => [page.module, ...page.namespaces.map((each) => `src/words/zh-CN/pages/${each}.ts`)];
const sizeOf = (file) => gzipSync(readFileSync(new URL(file, ROOM))).length;
const sum = (files) => [...files].reduce((total, file) => total + sizeOf(file), 0);
const print = (bytes, text) => console.log(`${(bytes / 1024).toFixed(1).padStart(8)} KiB  ${text}`);

const frame = filesOf(["index.html", "src/words/zh-CN/index.ts"]);
const overview = rootsOf(pages.find((page) => page.module === OVERVIEW));
const first = filesOf(["index.html", "src/words/zh-CN/index.ts", ...overview]);
for (const file of first) print(sizeOf(file), file);
const total = sum(first);
print(total, `in all, of ${BOUND / 1024}`);

for (const page of pages) print(sum(filesOf(rootsOf(page)).difference(frame)), page.module);
if (total > BOUND) process.exit(1);

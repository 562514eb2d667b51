// What the browser loads before the overview is painted, gzipped: the entry, its static imports, the route, the words
// of one language. Fails above the bound.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const BOUND = 350 * 1024;
const ROOM = new URL("../../src/horae/console/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", ROOM)));
const ROOTS = ["index.html", "src/pages/overview/OverviewPage.tsx", "src/words/zh-CN/index.ts"];

const files = new Set();
const walk = (name) => {
  const chunk = manifest[name];
  if (!chunk) throw new Error(`no chunk ${name} in the build`);
  if (files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const css of chunk.css ?? []) files.add(css);
  for (const next of chunk.imports ?? []) walk(next);
};
for (const name of ROOTS) walk(name);

let total = 0;
for (const file of files) {
  const bytes = gzipSync(readFileSync(new URL(file, ROOM))).length;
  total += bytes;
  console.log(`${(bytes / 1024).toFixed(1).padStart(8)} KiB  ${file}`);
}
console.log(`${(total / 1024).toFixed(1).padStart(8)} KiB  in all, of ${BOUND / 1024}`);
if (total > BOUND) process.exit(1);

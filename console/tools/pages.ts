// The pages with the texts that their routes load, read from the sources: for the bound of the first load and for tests.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const CONSOLE = join(import.meta.dirname, "..");
const LAZY_PAGE = /lazyPage\(\s*\(\) => import\("([^"]+)"\),\s*"\w+",\s*\[([^\]]*)\],?\s*\)/g;
const IMPORT = /^(?:import|export) (?!type )(?:[^;"]*? from )?"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm;
const SHOWS_NO_TEXT = /^src\/(?:api|words)\/|\.css$/;

export interface Page {
  module: string;
  namespaces: string[];
}

const textOf = (module: string): string => readFileSync(join(CONSOLE, module), "utf8");

/** Returns the file of an imported path. */
function fileOf(path: string): string {
  const files = [`${path}.ts`, `${path}.tsx`, join(path, "index.ts")];
  const found = files.find((file) => existsSync(join(CONSOLE, file)));
  if (!found) throw new Error(`no module ${path}`);
  return found;
}

export function listPages(): Page[] {
  return globSync("src/pages/*/routes.ts", { cwd: CONSOLE }).flatMap((routes) =>
    [...textOf(routes).matchAll(LAZY_PAGE)].map(([, path = "", names = ""]) => ({
      module: fileOf(join(dirname(routes), path)),
      namespaces: [...names.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name),
    })),
  );
}

/** Returns a module and all modules that it imports, also those that it imports lazily; pages of routes are left out. */
export function modulesOf(module: string, found = new Set<string>()): Set<string> {
  if (found.has(module)) return found;
  found.add(module);
  for (const [, path, lazyPath] of textOf(module).replaceAll(LAZY_PAGE, "").matchAll(IMPORT)) {
    const file = join(dirname(module), path ?? lazyPath ?? "");
    if (!SHOWS_NO_TEXT.test(file)) modulesOf(fileOf(file), found);
  }
  return found;
}

/** Returns the namespaces whose texts a module shows. */
export function namespacesIn(module: string): string[] {
  const text = textOf(module);
  const lists = [...text.matchAll(/useTranslation\(([^)]*)\)/g)].map(([, names = ""]) => names);
  const named = lists.flatMap((names) => [...names.matchAll(/"(\w+)"/g)]);
  const prefixes = [...text.matchAll(/\bt\(\s*["`](\w+):/g), ...text.matchAll(/\bns: "(\w+)"/g)];
  return [...named, ...prefixes].map(([, name = ""]) => name);
}

import { expect, test } from "vitest";
import { listPages, modulesOf, namespacesIn } from "../../tools/pages";
import enFrame from "./en";
import zhFrame from "./zh-CN";

const filesOf = (files: Record<string, object>) =>
  Object.fromEntries(Object.entries(files).map(([path, texts]) => [/(\w+)\.ts$/.exec(path)?.[1], texts]));
const en = {
  ...enFrame,
  ...filesOf(import.meta.glob<object>("./en/pages/*.ts", { eager: true, import: "default" })),
};
const zh = {
  ...zhFrame,
  ...filesOf(import.meta.glob<object>("./zh-CN/pages/*.ts", { eager: true, import: "default" })),
};

const keys = (value: object, path = ""): string[] =>
  Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === "object" ? keys(inner, `${path}${key}.`) : [`${path}${key}`],
  );

const slots = (value: object, path = ""): string[] =>
  Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === "object"
      ? slots(inner, `${path}${key}.`)
      : [`${path}${key}: ${[...String(inner).matchAll(/{{(\w+)/g)].map((found) => found[1]).sort()}`],
  );

test("both languages have the same texts", () => {
  expect(keys(zh).sort()).toEqual(keys(en).sort());
});

test("both languages have the same blanks in every text", () => {
  expect(slots(zh).sort()).toEqual(slots(en).sort());
});

test("no text is empty", () => {
  for (const language of [en, zh]) expect(JSON.stringify(language)).not.toContain('""');
});

test("the Chinese texts of the health panel are the ones that were agreed, and claim nothing that is not done", () => {
  expect(zh.health).toMatchObject({
    starting: "初始化中",
    healthy: "调度健康",
    failed: "拉取失败，重试第 {{failures}} 次: {{error}}",
    readOnly: "连续失败，前端降级为只读健康摘要",
  });
  // What is slowed down is said by the banner of the measures, while they are in force.
  expect(`${en.health.degraded} ${zh.health.degraded}`).not.toMatch(/slow|限速/);
});

/** The namespaces of a module and its imports, without those of the frame. */
const namespacesOf = (module: string): string[] => {
  const namespaces = new Set([...modulesOf(module)].flatMap(namespacesIn));
  return [...namespaces].filter((namespace) => !(namespace in enFrame)).sort();
};

test.each(listPages())("the route of $module loads the texts that its components show", (page) => {
  expect([...page.namespaces].sort()).toEqual(namespacesOf(page.module));
});

test("the frame shows its own texts only", () => {
  expect(modulesOf("src/main.tsx")).toContain("src/app/search/SearchDialog.tsx");
  expect(namespacesOf("src/main.tsx")).toEqual([]);
});

test("every page is a lazy page, and every namespace is loaded by one", () => {
  const routes = Object.values(
    import.meta.glob<string>("../pages/*/routes.ts", { eager: true, query: "?raw", import: "default" }),
  );
  const components = routes.flatMap((text) => text.match(/component:/g) ?? []);
  expect(listPages()).toHaveLength(components.length);
  const loaded = new Set(listPages().flatMap((page) => page.namespaces));
  expect([...loaded, ...Object.keys(enFrame)].sort()).toEqual(Object.keys(en).sort());
});

test("a component names the namespaces of its texts as literals", () => {
  const sources = import.meta.glob<string>("../{app,pages,parts}/**/*.{ts,tsx}", {
    eager: true,
    query: "?raw",
    import: "default",
  });
  for (const [path, text] of Object.entries(sources))
    for (const [, names] of text.matchAll(/useTranslation\(([^)]*)\)/g))
      expect(names, path).toMatch(/^$|^"\w+"$|^\[("\w+"(, )?)+\]$/);
});

import i18next from "i18next";
import { beforeAll, expect, test, vi } from "vitest";
import { initTexts, loadPageTexts, setLanguage } from ".";

// The audit log opens while the Chinese texts of the tasks are read.
const audit: { opens?: Promise<void> } = {};
vi.mock("./zh-CN/pages/tasks", (importOriginal) => {
  audit.opens = loadPageTexts(["audit"]);
  return importOriginal();
});

beforeAll(async () => {
  vi.stubGlobal("navigator", { language: "en" });
  vi.stubGlobal("document", { documentElement: { lang: "" } });
  await initTexts();
});

test("the texts of a page are there when it opens, and in the next language, too", async () => {
  expect(i18next.t("loading")).toBe("Loading");
  await loadPageTexts(["jobs"]);
  expect(i18next.t("title", { ns: "jobs" })).toBe("Jobs");
  await setLanguage("zh-CN");
  expect(i18next.t("loading")).toBe("加载中");
  expect(i18next.t("title", { ns: "jobs" })).toBe("任务");
});

test("a page that opens while the language changes has the texts of the next language", async () => {
  await setLanguage("en");
  await loadPageTexts(["tasks"]);
  await setLanguage("zh-CN");
  await audit.opens;
  expect(i18next.t("title", { ns: "tasks" })).toBe("业务键任务");
  expect(i18next.t("title", { ns: "audit" })).toBe("审计日志");
});

import { expect, test } from "vitest";
import en from "./en";
import zh from "./zh-CN";

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

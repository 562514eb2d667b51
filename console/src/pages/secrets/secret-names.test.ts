import { expect, test } from "vitest";
import { namesSecret } from "./secret-names";

test("a secret is found in every place that names one, and nowhere else", () => {
  expect(namesSecret({ kind: "webhook", url: "https://a.example", signing: "crm" }, "crm")).toBe(true);
  expect(namesSecret({ kind: "http", auth: { kind: "bearer", token: "crm" } }, "crm")).toBe(true);
  expect(namesSecret({ kind: "postgres", dsn: "crm" }, "crm")).toBe(true);
  expect(namesSecret({ kind: "slack", url_secret: "crm" }, "crm")).toBe(true);
  expect(namesSecret({ kind: "http", auth: { kind: "basic", username: "crm", password: "x" } }, "crm")).toBe(
    false,
  );
  expect(namesSecret({ topic: "crm", signing: null }, "crm")).toBe(false);
});

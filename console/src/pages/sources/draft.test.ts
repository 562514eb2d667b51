import { expect, test } from "vitest";
import type { SourceView } from "../../api/generated/models";
import { draftOf, EMPTY, specOf } from "./draft";

const source = {
  type: "publish",
  spec: { origin: { kind: "http", url: "https://a.example/", page: 7, auth: { kind: "bearer" } }, every: 60 },
} as unknown as SourceView;

test("missing fields have their defaults in the form", () => {
  expect(draftOf(source)).toMatchObject({
    type: "publish",
    kind: "http",
    every: 60,
    grace: 60,
    orphans: "keep",
  });
});

test("fields that the form does not show are kept", () => {
  const spec = specOf({ ...draftOf(source), url: "https://b.example/" }, source);
  expect(spec.origin).toMatchObject({ url: "https://b.example/", page: 7, auth: { kind: "bearer" } });
});

test("another kind keeps no fields of the previous kind", () => {
  expect(specOf({ ...draftOf(source), kind: "push" }, source).origin).toEqual({ kind: "push" });
  expect(specOf({ ...EMPTY, kind: "sql", dsn: "shop", statement: "$1 $2" }).origin).toEqual({
    kind: "sql",
    dsn: "shop",
    statement: "$1 $2",
    ca: null,
  });
});

import { expect, test } from "vitest";
import type { SourceView } from "../../api/generated/models";
import { draftOf, EMPTY, specOf } from "./draft";

const source = {
  type: "publish",
  spec: { origin: { kind: "http", url: "https://a.example/", page: 7, auth: { kind: "bearer" } }, every: 60 },
} as unknown as SourceView;

test("what was not said has its default in the form", () => {
  expect(draftOf(source)).toMatchObject({
    type: "publish",
    kind: "http",
    every: 60,
    grace: 60,
    orphans: "keep",
  });
});

test("what the form does not show stays as it was", () => {
  const told = specOf({ ...draftOf(source), url: "https://b.example/" }, source);
  expect(told.origin).toMatchObject({ url: "https://b.example/", page: 7, auth: { kind: "bearer" } });
});

test("another kind brings nothing of the one before", () => {
  expect(specOf({ ...draftOf(source), kind: "push" }, source).origin).toEqual({ kind: "push" });
  expect(specOf({ ...EMPTY, kind: "sql", dsn: "shop", statement: "$1 $2" }).origin).toEqual({
    kind: "sql",
    dsn: "shop",
    statement: "$1 $2",
    ca: null,
  });
});

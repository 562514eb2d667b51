import { expect, test } from "vitest";
import { newDraft, paceText, requestOf } from "./draft";

const NOW = Date.parse("2026-11-18T08:00:00Z");

test("a new draft is the last day, oldest first, without a rate", () => {
  expect(requestOf(newDraft(NOW))).toEqual({
    since: "2026-11-17T08:00:00.000Z",
    until: "2026-11-18T08:00:00.000Z",
    cap: 10_000,
    mode: "unsuccessful",
    newest_first: false,
    rate: null,
  });
});

test("an incomplete or an empty range is no request", () => {
  const draft = newDraft(NOW);
  expect(requestOf({ ...draft, until: "" })).toBeNull();
  expect(requestOf({ ...draft, until: draft.since })).toBeNull();
});

test("order and rate are sent", () => {
  const request = requestOf({ ...newDraft(NOW), order: "newest", rate: 0.5, mode: "failed" });
  expect(request).toMatchObject({ newest_first: true, rate: 0.5, mode: "failed" });
});

test("paces are short", () => {
  expect([0.0333, 2, 12.6, 1234.5].map(paceText)).toEqual(["0.033", "2", "13", "1,235"]);
});

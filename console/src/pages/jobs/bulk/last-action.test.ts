import { beforeEach, expect, test, vi } from "vitest";
import { clearNotes, MAX_NOTE_CHARACTERS, readNote, saveNote } from "../../../app/tab-notes";
import { readAction } from "./last-action";

beforeEach(() => {
  const kept: Record<string, string> = {};
  const methods = {
    getItem: (name: string) => kept[name] ?? null,
    setItem: (name: string, text: string) => {
      kept[name] = text;
    },
    removeItem: (name: string) => {
      delete kept[name];
    },
  };
  vi.stubGlobal(
    "sessionStorage",
    new Proxy(kept, { get: (_, name) => methods[name as keyof typeof methods] ?? kept[name as string] }),
  );
});

test("a note is kept until it is removed or the session ends, and a note that is too long is not kept", () => {
  saveNote("bulk.me.acme", "a");
  sessionStorage.setItem("other", "stays");
  expect(readNote("bulk.me.acme")).toBe("a");
  expect(readNote("bulk.me.globex")).toBeNull();
  saveNote("bulk.me.acme", "x".repeat(MAX_NOTE_CHARACTERS + 1));
  expect(readNote("bulk.me.acme")).toBeNull();
  saveNote("bulk.me.acme", "b");
  clearNotes();
  expect(readNote("bulk.me.acme")).toBeNull();
  expect(sessionStorage.getItem("other")).toBe("stays");
});

test("what somebody else wrote into the storage is not taken for an action", () => {
  for (const text of [
    null,
    "",
    "{",
    "[]",
    '{"verb": "drop", "changed": [], "refused": []}',
    '{"verb": "pause"}',
  ])
    expect(readAction(text)).toBeNull();
  const action = { verb: "pause", isUndo: false, changed: ["a"], refused: [] } as const;
  expect(readAction(JSON.stringify(action))).toEqual(action);
});

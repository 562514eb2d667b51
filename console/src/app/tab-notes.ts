/** Notes of this tab: they outlive a page, and end with the tab or the session. The console works without them. */
const PREFIX = "horae.note.";
/** Characters of one note; 5,000 names of jobs fit. A longer note is not kept. */
export const MAX_NOTE_CHARACTERS = 1_000_000;

export function readNote(name: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keeps a note; null removes it. */
export function saveNote(name: string, text: string | null): void {
  try {
    sessionStorage.removeItem(PREFIX + name);
    if (text !== null && text.length <= MAX_NOTE_CHARACTERS) sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // a private window may refuse, or the storage is full; the note then lasts until the page is left
  }
}

/** Removes all notes: the session has ended. */
export function clearNotes(): void {
  try {
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
  } catch {
    // without a storage there are no notes
  }
}

/** Preferences in this browser: language and theme. The console works without them. */
export function readPreference(name: string): string | null {
  try {
    return localStorage.getItem(`horae.${name}`);
  } catch {
    return null;
  }
}

export function savePreference(name: string, value: string): void {
  try {
    localStorage.setItem(`horae.${name}`, value);
  } catch {
    // a private window may refuse; the preference then lasts until the page is closed
  }
}

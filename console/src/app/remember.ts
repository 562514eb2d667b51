/** What this browser keeps for a person: language, light or dark. A browser that keeps nothing is fine. */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(`horae.${name}`);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`horae.${name}`, value);
  } catch {
    // private windows may refuse; the choice then lasts as long as the page
  }
}

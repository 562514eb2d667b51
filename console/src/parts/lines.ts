/** Texts with one entry per line, as forms have them. */

export const readLines = (text: string): string[] => text.split("\n").flatMap((line) => line.trim() || []);

/** Reads labels from lines of the form key=value. */
export function readLabels(text: string): Record<string, string> {
  const labels = readLines(text).map((line) => {
    const [key = "", ...value] = line.split("=");
    return [key.trim(), value.join("=").trim()];
  });
  return Object.fromEntries(labels);
}

/** Returns labels as texts of the form key=value. */
export const labelTexts = (labels: Record<string, string>): string[] =>
  Object.entries(labels).map(([key, value]) => `${key}=${value}`);

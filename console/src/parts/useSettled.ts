import { useEffect, useState } from "react";

const SETTLE_MS = 500;

/** A text once it has not changed for half a second: what is typed asks the API once. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

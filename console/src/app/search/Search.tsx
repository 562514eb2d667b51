import { lazy, Suspense, useEffect } from "react";
import { setSearch, useSearch } from "./open";

const Palette = lazy(async () => ({ default: (await import("./Palette")).Palette }));

/** Waits for "/" outside of text fields; the dialog itself is loaded when it is first opened. */
export function Search() {
  const open = useSearch();
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || writing(event.target))
        return;
      event.preventDefault();
      setSearch(true);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  return open ? (
    <Suspense>
      <Palette />
    </Suspense>
  ) : null;
}

function writing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

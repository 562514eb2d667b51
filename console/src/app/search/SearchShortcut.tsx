import { lazy, Suspense, useEffect } from "react";
import { setSearchOpen, useSearchOpen } from "./search-open";

const SearchDialog = lazy(async () => ({ default: (await import("./SearchDialog")).SearchDialog }));

/** Opens the search when "/" is pressed outside of a text field. The dialog is loaded on its first use. */
export function SearchShortcut() {
  const open = useSearchOpen();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTextField(event.target))
        return;
      event.preventDefault();
      setSearchOpen(true);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return open ? (
    <Suspense>
      <SearchDialog />
    </Suspense>
  ) : null;
}

function isTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

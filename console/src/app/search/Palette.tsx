import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Input, Modal } from "antd";
import { type KeyboardEvent, useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobs } from "../../api/generated/client";
import { type Find, finds } from "./finds";
import { setSearch } from "./open";

const MOST = 8;

/** The search: one field, a list below it, all of it by keyboard. */
export function Palette() {
  const { t } = useTranslation("frame");
  const router = useRouter();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useFinds(text);
  const go = (find: Find | undefined) => {
    if (!find) return;
    setSearch(false);
    router.history.push(router.options.basepath + find.to);
  };
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt((now) => (now + step + found.length) % Math.max(1, found.length));
    } else if (event.key === "Enter") go(found[at]);
  };
  return (
    <Modal
      open
      title={t("search.title")}
      footer={t("search.keys")}
      onCancel={() => setSearch(false)}
      destroyOnHidden
    >
      <Input
        autoFocus
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls="finds"
        aria-activedescendant={found[at] ? `find-${at}` : undefined}
        aria-label={t("search.hint")}
        placeholder={t("search.hint")}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <div id="finds" role="listbox" aria-label={t("search.title")} className="finds">
        {found.map((find, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's, as of every combobox
          <div
            key={find.to}
            id={`find-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => go(find)}
          >
            <Said find={find} />
          </div>
        ))}
      </div>
    </Modal>
  );
}

function Said({ find }: { find: Find }) {
  const { t } = useTranslation("frame");
  switch (find.kind) {
    case "job":
      return find.name;
    case "instance":
      return t("search.goInstance", { id: find.id });
    case "task":
      return t("search.goTask", { type: find.type, key: find.key });
    case "key":
      return t("search.goKey", { key: find.key });
  }
}

function useFinds(text: string): Find[] {
  const prefix = useDeferredValue(text.trim());
  const asked = useQuery({
    queryKey: ["jobs", "search", prefix],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 200)); // one request for a word, not one for a letter
      return signal.aborted ? { items: [] } : getJobs({ prefix, limit: MOST }, { signal });
    },
    enabled: prefix !== "" && !prefix.startsWith("ins_"),
    placeholderData: keepPreviousData,
  });
  return finds(text, asked.data?.items ?? []);
}

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Input, Modal } from "antd";
import { type KeyboardEvent, useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobs } from "../../api/generated/client";
import { resultsOf, type SearchResult } from "./results";
import { setSearchOpen } from "./search-open";

const MAX_JOBS = 8;

/** The search dialog: a field with a list of results, usable by keyboard alone. */
export function SearchDialog() {
  const { t } = useTranslation("frame");
  const router = useRouter();
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const results = useSearchResults(text);
  const openResult = (result: SearchResult | undefined) => {
    if (!result) return;
    setSearchOpen(false);
    router.history.push(router.options.basepath + result.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setIndex((now) => (now + step + results.length) % Math.max(1, results.length));
    } else if (event.key === "Enter") openResult(results[index]);
  };
  return (
    <Modal
      open
      title={t("search.title")}
      footer={t("search.keys")}
      onCancel={() => setSearchOpen(false)}
      destroyOnHidden
    >
      <Input
        autoFocus
        role="combobox"
        aria-expanded={results.length > 0}
        aria-controls="search-results"
        aria-activedescendant={results[index] ? `search-result-${index}` : undefined}
        aria-label={t("search.hint")}
        placeholder={t("search.hint")}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setIndex(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="search-results" role="listbox" aria-label={t("search.title")} className="search-results">
        {results.map((result, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox field handles the keys
          <div
            key={result.to}
            id={`search-result-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === index}
            onClick={() => openResult(result)}
          >
            <ResultText result={result} />
          </div>
        ))}
      </div>
    </Modal>
  );
}

function ResultText({ result }: { result: SearchResult }) {
  const { t } = useTranslation("frame");
  switch (result.kind) {
    case "job":
      return result.name;
    case "instance":
      return t("search.goInstance", { id: result.id });
    case "task":
      return t("search.goTask", { type: result.type, key: result.key });
    case "key":
      return t("search.goKey", { key: result.key });
  }
}

function useSearchResults(text: string): SearchResult[] {
  const prefix = useDeferredValue(text.trim());
  const query = useQuery({
    queryKey: ["jobs", "search", prefix],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 200)); // one request per word, not one per key press
      return signal.aborted ? { items: [] } : getJobs({ prefix, limit: MAX_JOBS }, { signal });
    },
    enabled: prefix !== "" && !prefix.startsWith("ins_"),
    placeholderData: keepPreviousData,
  });
  return resultsOf(text, query.data?.items ?? []);
}

import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { readPreference, savePreference } from "../app/preferences";
import type frameTexts from "./en";
import type { PageNamespace, PageTexts } from "./page-texts";

export type Language = "en" | "zh-CN";
export const LANGUAGES: Record<Language, string> = { en: "English", "zh-CN": "中文" };

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "frame";
    resources: typeof frameTexts & PageTexts;
  }
}

type ReadTexts = () => Promise<{ default: object }>;
const PAGE_FILES = import.meta.glob<{ default: object }>("./*/pages/*.ts");

/** The namespaces of the pages that were opened. A change of the language loads them before it shows. */
const opened = new Set<PageNamespace>();

async function readFrameTexts(language: Language) {
  return language === "zh-CN" ? (await import("./zh-CN")).default : (await import("./en")).default;
}

const missingIn = (language: Language, namespaces: Iterable<PageNamespace>): PageNamespace[] =>
  [...namespaces].filter((namespace) => !i18next.hasResourceBundle(language, namespace));

async function addPageTexts(language: Language, namespaces: PageNamespace[]): Promise<void> {
  const adding = namespaces.map(async (namespace) => {
    const readTexts = PAGE_FILES[`./${language}/pages/${namespace}.ts`] as ReadTexts;
    i18next.addResourceBundle(language, namespace, (await readTexts()).default);
  });
  await Promise.all(adding);
}

export function preferredLanguage(): Language {
  const saved = readPreference("language");
  if (saved === "en" || saved === "zh-CN") return saved;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
}

/** Loads the texts of the frame. */
export async function initTexts(): Promise<void> {
  const language = preferredLanguage();
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    defaultNS: "frame",
    resources: { [language]: await readFrameTexts(language) },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  });
  document.documentElement.lang = language;
}

/** Loads the texts of a page that opens. */
export async function loadPageTexts(namespaces: readonly PageNamespace[]): Promise<void> {
  for (const namespace of namespaces) opened.add(namespace);
  const language = i18next.language as Language;
  await addPageTexts(language, missingIn(language, namespaces));
}

/** Shows another language as soon as the texts of the frame and of all opened pages are loaded. */
export async function setLanguage(language: Language): Promise<void> {
  const frame = await readFrameTexts(language);
  for (const [namespace, texts] of Object.entries(frame))
    i18next.addResourceBundle(language, namespace, texts);
  // A page that opens meanwhile adds its namespaces: they are loaded, too.
  for (let missing = missingIn(language, opened); missing.length > 0; missing = missingIn(language, opened)) {
    await addPageTexts(language, missing);
  }
  savePreference("language", language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

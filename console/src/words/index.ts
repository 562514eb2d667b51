import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { readPreference, savePreference } from "../app/preferences";
import type en from "./en";

export type Language = "en" | "zh-CN";
export const LANGUAGES: Record<Language, string> = { en: "English", "zh-CN": "中文" };

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "frame";
    resources: typeof en;
  }
}

/** Loads the texts of one language. */
async function loadTexts(language: Language) {
  return language === "zh-CN" ? (await import("./zh-CN")).default : (await import("./en")).default;
}

export function preferredLanguage(): Language {
  const saved = readPreference("language");
  if (saved === "en" || saved === "zh-CN") return saved;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
}

export async function initTexts(): Promise<void> {
  const language = preferredLanguage();
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    defaultNS: "frame",
    resources: { [language]: await loadTexts(language) },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  });
  document.documentElement.lang = language;
}

export async function setLanguage(language: Language): Promise<void> {
  const texts = await loadTexts(language);
  for (const [page, pageTexts] of Object.entries(texts)) i18next.addResourceBundle(language, page, pageTexts);
  savePreference("language", language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { recall, remember } from "../app/remember";
import type en from "./en";

export type Language = "en" | "zh-CN";
export const LANGUAGES: Record<Language, string> = { en: "English", "zh-CN": "中文" };

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "frame";
    resources: typeof en;
  }
}

/** One language is loaded at a time, with what the components of the library say in it. */
async function load(language: Language) {
  return language === "zh-CN" ? (await import("./zh-CN")).default : (await import("./en")).default;
}

export function preferred(): Language {
  const kept = recall("language");
  if (kept === "en" || kept === "zh-CN") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
}

export async function begin(): Promise<void> {
  const language = preferred();
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    defaultNS: "frame",
    resources: { [language]: await load(language) },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  });
  document.documentElement.lang = language;
}

export async function speak(language: Language): Promise<void> {
  const words = await load(language);
  for (const [page, texts] of Object.entries(words)) i18next.addResourceBundle(language, page, texts);
  remember("language", language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

import { App, ConfigProvider } from "antd";
import type { Locale } from "antd/es/locale";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { nonce } from "../nonce";
import { useDark } from "./appearance";
import { dark, light } from "./tokens";

const csp = { nonce: nonce() };

/** Where dialogs and lists open. Above the body itself they would lock its scrolling by a style without our nonce. */
const layers = (): HTMLElement => document.getElementById("layers") ?? document.body;

/** Colours and language of the library's components, and of our own. */
export function Dress({ children }: { children: ReactNode }) {
  const isDark = useDark();
  const locale = useLocale();
  useEffect(() => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  }, [isDark]);
  return (
    <ConfigProvider
      theme={isDark ? dark : light}
      locale={locale}
      csp={csp}
      getPopupContainer={layers}
      button={{ autoInsertSpace: false }}
    >
      <App>{children}</App>
    </ConfigProvider>
  );
}

/** English stands in the library itself; the other language comes when it is spoken. */
function useLocale(): Locale | undefined {
  const { i18n } = useTranslation();
  const [chinese, setChinese] = useState<Locale>();
  useEffect(() => {
    if (i18n.language === "zh-CN") void import("antd/locale/zh_CN").then((told) => setChinese(told.default));
  }, [i18n.language]);
  return i18n.language === "zh-CN" ? chinese : undefined;
}

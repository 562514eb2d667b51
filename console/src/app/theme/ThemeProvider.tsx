import { App, ConfigProvider } from "antd";
import type { Locale } from "antd/es/locale";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { nonce } from "../nonce";
import { useDark } from "./appearance";
import { dark, light } from "./tokens";

const csp = { nonce: nonce() };

/** The container of dialogs and lists. In the body they would lock its scrolling by a style without the nonce. */
const popupContainer = (): HTMLElement => document.getElementById("layers") ?? document.body;

/** Sets theme and locale of the Ant Design components and of the console's own. */
export function ThemeProvider({ children }: { children: ReactNode }) {
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
      getPopupContainer={popupContainer}
      button={{ autoInsertSpace: false }}
    >
      <App>{children}</App>
    </ConfigProvider>
  );
}

/** The locale of Ant Design: English is built in, Chinese is loaded when it is selected. */
function useLocale(): Locale | undefined {
  const { i18n } = useTranslation();
  const [chinese, setChinese] = useState<Locale>();
  useEffect(() => {
    if (i18n.language === "zh-CN")
      void import("antd/locale/zh_CN").then((locale) => setChinese(locale.default));
  }, [i18n.language]);
  return i18n.language === "zh-CN" ? chinese : undefined;
}

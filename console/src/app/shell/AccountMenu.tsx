import { App, Button, Dropdown, type MenuProps } from "antd";
import { useTranslation } from "react-i18next";
import type { Me } from "../../api/generated/models";
import { LANGUAGES, type Language, setLanguage } from "../../words";
import { logOut } from "../session";
import { setThemeChoice, THEME_CHOICES, type ThemeChoice, useThemeChoice } from "../theme/appearance";

/** The account menu: roles, language, theme and log out. */
export function AccountMenu({ me }: { me: Me }) {
  const { t, i18n } = useTranslation("frame");
  const { message } = App.useApp();
  const theme = useThemeChoice();
  const items: MenuProps["items"] = [
    {
      type: "group",
      label: t("person.roles", { roles: me.roles.join(", ") || t("person.none") }),
      children: [],
    },
    {
      type: "group",
      label: t("language"),
      children: Object.entries(LANGUAGES).map(([key, label]) => ({ key: `language:${key}`, label })),
    },
    {
      type: "group",
      label: t("theme.label"),
      children: THEME_CHOICES.map((key) => ({ key: `theme:${key}`, label: t(`theme.${key}`) })),
    },
    { type: "divider" },
    { key: "logOut", label: t("person.leave") },
  ];
  const onSelect = ({ key }: { key: string }) => {
    const [setting, value] = key.split(":");
    if (setting === "language") void setLanguage(value as Language);
    else if (setting === "theme") setThemeChoice(value as ThemeChoice);
    else logOut().catch((error: Error) => message.error(error.message));
  };
  const selectedKeys = [`language:${i18n.language}`, `theme:${theme}`];
  return (
    <Dropdown
      menu={{ items, selectable: true, multiple: true, selectedKeys, onClick: onSelect }}
      trigger={["click"]}
    >
      <Button aria-label={`${t("person.menu")}: ${me.name}`} className="person">
        <span className="person-name">{me.name}</span>
      </Button>
    </Dropdown>
  );
}

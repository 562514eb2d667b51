import { App, Button, Dropdown, type MenuProps } from "antd";
import { useTranslation } from "react-i18next";
import type { Me } from "../../api/generated/models";
import { LANGUAGES, type Language, speak } from "../../words";
import { leave } from "../session";
import { CHOICES, type Choice, choose, useChoice } from "../theme/appearance";

/** Who is logged in, and what is theirs to choose: language, light or dark, to leave. */
export function Person({ me }: { me: Me }) {
  const { t, i18n } = useTranslation("frame");
  const { message } = App.useApp();
  const appearance = useChoice();
  const items: MenuProps["items"] = [
    {
      type: "group",
      label: t("person.roles", { roles: me.roles.join(", ") || t("person.none") }),
      children: [],
    },
    {
      type: "group",
      label: t("language"),
      children: Object.entries(LANGUAGES).map(([key, label]) => ({ key: `speak:${key}`, label })),
    },
    {
      type: "group",
      label: t("theme.label"),
      children: CHOICES.map((key) => ({ key: `dress:${key}`, label: t(`theme.${key}`) })),
    },
    { type: "divider" },
    { key: "leave", label: t("person.leave") },
  ];
  const chosen = ({ key }: { key: string }) => {
    const [verb, what] = key.split(":");
    if (verb === "speak") void speak(what as Language);
    else if (verb === "dress") choose(what as Choice);
    else leave().catch((error: Error) => message.error(error.message));
  };
  const selectedKeys = [`speak:${i18n.language}`, `dress:${appearance}`];
  return (
    <Dropdown
      menu={{ items, selectable: true, multiple: true, selectedKeys, onClick: chosen }}
      trigger={["click"]}
    >
      <Button aria-label={`${t("person.menu")}: ${me.name}`} className="person">
        <span className="person-name">{me.name}</span>
      </Button>
    </Dropdown>
  );
}

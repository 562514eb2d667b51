import { Link } from "@tanstack/react-router";
import { Button, Drawer } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Me } from "../../api/generated/models";
import { HealthLine } from "../health/HealthLine";
import { SearchButton } from "../search/SearchButton";
import { Menu } from "./Menu";
import { Person } from "./Person";
import { Tenant } from "./Tenant";

/** The bar at the top; on a small screen the menu comes out of it. */
export function Top({ me }: { me: Me }) {
  const { t } = useTranslation("frame");
  const [open, setOpen] = useState(false);
  return (
    <header className="top">
      <Button className="small-only" aria-label={t("menu.open")} onClick={() => setOpen(true)}>
        ☰
      </Button>
      <Link to="/" className="brand">
        {t("name")}
      </Link>
      <HealthLine />
      <span className="gap" />
      <SearchButton />
      <Tenant me={me} />
      <Person me={me} />
      <Drawer
        open={open}
        onClose={() => setOpen(false)}
        placement="left"
        size={260}
        title={t("menu.title")}
        closable={{ "aria-label": t("menu.close") }}
      >
        <Menu me={me} onChoose={() => setOpen(false)} />
      </Drawer>
    </header>
  );
}

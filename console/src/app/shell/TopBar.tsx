import { Link } from "@tanstack/react-router";
import { Button, Drawer } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Me } from "../../api/generated/models";
import { HealthLine } from "../health/HealthLine";
import { SearchButton } from "../search/SearchButton";
import { AccountMenu } from "./AccountMenu";
import { Menu } from "./Menu";
import { TenantSelect } from "./TenantSelect";
import { ZoneSelect } from "./ZoneSelect";

/** The bar at the top. On a small screen it contains the menu. */
export function TopBar({ me }: { me: Me }) {
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
      <ZoneSelect />
      <TenantSelect me={me} />
      <AccountMenu me={me} />
      <Drawer
        open={open}
        onClose={() => setOpen(false)}
        placement="left"
        size={260}
        title={t("menu.title")}
        closable={{ "aria-label": t("menu.close") }}
      >
        <Menu me={me} onChoose={() => setOpen(false)} />
        <div className="drawer-zone">
          <ZoneSelect />
        </div>
      </Drawer>
    </header>
  );
}

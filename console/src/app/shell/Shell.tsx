import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { Me } from "../../api/generated/models";
import { HealthBanner } from "../health/HealthBanner";
import { Search } from "../search/Search";
import { Menu } from "./Menu";
import { Top } from "./Top";

/** What stands around every page. */
export function Shell({ me }: { me: Me }) {
  const { t } = useTranslation("frame");
  const content = useFocusOnPage();
  return (
    <>
      <a className="skip" href="#content">
        {t("skip")}
      </a>
      <Top me={me} />
      <div className="frame">
        <aside className="side">
          <Menu me={me} />
        </aside>
        <main id="content" tabIndex={-1} ref={content}>
          <HealthBanner />
          <Outlet />
        </main>
      </div>
      <Search />
    </>
  );
}

/** A new page takes the focus, so that a keyboard or a reader goes on there; filters of the same page do not. */
function useFocusOnPage() {
  const content = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== path) content.current?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
  return content;
}

import { Outlet, useRouterState } from "@tanstack/react-router";
import { Fragment, useEffect, useRef, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import type { Me } from "../../api/generated/models";
import { onZoneChange, zoneKey } from "../../parts/zone";
import { HealthBanner } from "../health/HealthBanner";
import { MeasureBanner } from "../health/MeasureBanner";
import { SearchShortcut } from "../search/SearchShortcut";
import { Menu } from "./Menu";
import { TopBar } from "./TopBar";

/** The frame around every page: top bar, menu, banner and search. */
export function Shell({ me }: { me: Me }) {
  const { t } = useTranslation("frame");
  const content = useFocusOnPage();
  const zone = useSyncExternalStore(onZoneChange, zoneKey); // another zone: all times are formatted anew
  return (
    <>
      <a className="skip" href="#content">
        {t("skip")}
      </a>
      <TopBar me={me} />
      <div className="frame">
        <aside className="side">
          <Menu me={me} />
        </aside>
        <main id="content" tabIndex={-1} ref={content}>
          <HealthBanner />
          <MeasureBanner />
          <Fragment key={zone}>
            <Outlet />
          </Fragment>
        </main>
      </div>
      <SearchShortcut />
    </>
  );
}

/** Moves the focus to the content of a new page, for keyboards and screen readers. A new filter does not move it. */
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

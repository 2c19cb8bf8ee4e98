import { Drawer } from "@mantine/core";
import { useEffect, type ReactNode } from "react";
import { useStore } from "../state/store";
import { words } from "../words/words";
import { ConnectionBar } from "./ConnectionBar";
import { Sidebar } from "./Sidebar";
import { closeSidebar, sidebarOpen } from "./sidebarState";
import { useIsPhone } from "./useIsPhone";
import classes from "./Shell.module.css";

/** The list at the left, and beside it whatever is open. On a phone the list lies in a drawer. */
export function Shell({ children }: { children: ReactNode }) {
  const opened = useStore(sidebarOpen, (open) => open);
  const phone = useIsPhone();
  useEffect(() => {
    window.addEventListener("hashchange", closeSidebar);
    return () => window.removeEventListener("hashchange", closeSidebar);
  }, []);
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#composer" onClick={goToComposer}>
        {words("app.skip")}
      </a>
      {phone ? (
        <Drawer
          opened={opened}
          onClose={closeSidebar}
          size="min(20rem, 88vw)"
          withCloseButton={false}
          padding={0}
          title={words("nav.label")}
          classNames={{ content: classes.drawer, body: classes.drawerBody, header: classes.drawerHead }}
        >
          <Sidebar />
        </Drawer>
      ) : (
        <div className={classes.side}>
          <Sidebar />
        </div>
      )}
      <div className={classes.main}>
        <ConnectionBar />
        <div className={classes.view}>{children}</div>
      </div>
    </div>
  );
}

/** The address says which conversation is open, so the link must not change it. */
function goToComposer(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById("composer")?.focus();
}

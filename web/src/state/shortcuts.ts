import { openSidebar } from "../layout/sidebarState";
import { goTo } from "./route";

/** Ctrl-K searches, Alt-N begins anew. Everything else is reached with Tab. */
export function listenForShortcuts(): void {
  window.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openSidebar(); // on a phone the list lies in a drawer; elsewhere this changes nothing
      requestAnimationFrame(() => document.getElementById("search")?.focus());
    }
    if (event.altKey && event.code === "KeyN") {
      event.preventDefault();
      goTo({ view: "talk", id: null });
      requestAnimationFrame(() => document.getElementById("composer")?.focus());
    }
  });
}

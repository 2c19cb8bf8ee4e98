import { useSyncExternalStore } from "react";

/** Where in the page we are. It stands behind the # of the address, so the server never sees it. */
export type Route =
  | { view: "talk"; id: string | null }
  | { view: "about-you" }
  | { view: "listeners" }
  | { view: "compare" }
  | { view: "help" }
  | { view: "unknown" };

const PLAIN = ["about-you", "listeners", "compare", "help"] as const;

export function routeOf(hash: string): Route {
  const path = hash.replace(/^#\/?/, "");
  if (path === "") return { view: "talk", id: null };
  const conversation = /^c\/([0-9a-f]{16})$/.exec(path);
  if (conversation) return { view: "talk", id: conversation[1]! };
  const plain = PLAIN.find((view) => view === path);
  return plain ? { view: plain } : { view: "unknown" };
}

export function hashOf(route: Route): string {
  if (route.view === "talk") return route.id ? `#/c/${route.id}` : "#/";
  return `#/${route.view}`;
}

export function goTo(route: Route, { replace = false } = {}): void {
  const hash = hashOf(route);
  if (replace) {
    history.replaceState(null, "", hash);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else window.location.hash = hash;
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(
    (tell) => {
      window.addEventListener("hashchange", tell);
      return () => window.removeEventListener("hashchange", tell);
    },
    () => window.location.hash,
  );
  return routeOf(hash);
}

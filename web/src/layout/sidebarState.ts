import { Store } from "../state/store";

/** Whether the list lies open over the page (on a phone; elsewhere it is always there). */
export const sidebarOpen = new Store(false);

export const openSidebar = () => sidebarOpen.set(true);
export const closeSidebar = () => sidebarOpen.set(false);

/** The page's few pictures, drawn in one stroke. They say nothing to a screen reader: the button beside them does. */
const PATHS = {
  ear: "M7 9.5a5.5 5.5 0 0 1 11 0c0 3.8-3.3 4.4-3.8 7.2C13.8 19 12.4 20.3 10.6 20.3c-1.6 0-2.9-1-3.4-2.5M10 9.6a2.6 2.6 0 0 1 5.1 0c0 1.5-1.2 1.9-2.1 2.7-.7.7-.7 1.5-.3 2.1",
  plus: "M12 5v14M5 12h14",
  search: "M11 4.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13ZM16 16l4 4",
  menu: "M4 7h16M4 12h16M4 17h10",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  close: "M6 6l12 12M18 6 6 18",
  edit: "M4 20h4L19 9l-4-4L4 16v4ZM13 7l4 4",
  undo: "M9 7 4.5 11.5 9 16M5 11.5h9a5 5 0 0 1 0 10h-2",
  again: "M20 11a8 8 0 0 0-14.3-4L4 9M4 4v5h5M4 13a8 8 0 0 0 14.3 4L20 15M20 20v-5h-5",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  why: "M12 3.5a6 6 0 0 0-3.5 10.9V17h7v-2.6A6 6 0 0 0 12 3.5ZM9.5 20.5h5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5a7.5 7.5 0 0 1 15 0",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 19.5a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14a6.5 6.5 0 0 1 3.5 5.5",
  columns: "M4 5h4.5v14H4zM9.75 5h4.5v14h-4.5zM15.5 5H20v14h-4.5z",
  heart: "M12 20s-7.5-4.6-7.5-10A4.2 4.2 0 0 1 12 7.5 4.2 4.2 0 0 1 19.5 10c0 5.4-7.5 10-7.5 10Z",
  phone: "M6 4h3.5l1.5 4.5-2 1.5a11 11 0 0 0 5 5l1.5-2L20 14.5V18a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2Z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1.1 1.1M17.3 17.3l1.1 1.1M18.4 5.6l-1.1 1.1M6.7 17.3l-1.1 1.1",
  moon: "M19.5 14A8 8 0 0 1 10 4.5 8 8 0 1 0 19.5 14Z",
  device: "M4 5h16v11H4zM9 20h6M12 16v4",
  down: "M12 5v14M6 13l6 6 6-6",
  fold: "M9 6l6 6-6 6",
  erase: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 11v5M13.5 11v5",
  save: "M12 4v11M7.5 10.5 12 15l4.5-4.5M5 19.5h14",
  key: "M8 15a3.5 3.5 0 1 0 0-.01M10.8 12.7 19 4.5M15.5 8l2.5 2.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill={name === "stop" ? "currentColor" : "none"}
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.6 : 1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

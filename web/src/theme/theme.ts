import { createTheme, type MantineColorsTuple } from "@mantine/core";

// Warm neutrals and one quiet green. Every pair of text and ground that the page uses is at least 4.5 : 1
// (contrast.test.ts); tokens.css holds the grounds.
const sage: MantineColorsTuple = [
  "#eef4f0",
  "#dde8e1",
  "#c2d6ca",
  "#a2c2af",
  "#84ad96",
  "#669880",
  "#4e826a",
  "#3c6b57",
  "#315949",
  "#26473a",
];

const clay: MantineColorsTuple = [
  "#fbf1ec",
  "#f5e0d6",
  "#ebc5b4",
  "#dfa78e",
  "#d38a6b",
  "#c4714f",
  "#b05c3b",
  "#964b2f",
  "#7c3e27",
  "#63311f",
];

const gray: MantineColorsTuple = [
  "#faf7f2",
  "#f3eee6",
  "#e8e1d6",
  "#d9d0c3",
  "#bfb4a5",
  "#9a8e80",
  "#786e62",
  "#5f564c",
  "#453e37",
  "#2e2924",
];

const dark: MantineColorsTuple = [
  "#ece5db",
  "#cfc6ba",
  "#ada397",
  "#8a8176",
  "#5a534b",
  "#45403a",
  "#35312c",
  "#2a2622",
  "#221f1b",
  "#1a1714",
];

const SANS = '"Figtree Variable", "Segoe UI", system-ui, -apple-system, "Helvetica Neue", "Noto Sans", sans-serif';
const SERIF = '"Newsreader", "Iowan Old Style", "Palatino Linotype", Georgia, "Noto Serif", serif';

export const theme = createTheme({
  colors: { sage, clay, gray, dark },
  primaryColor: "sage",
  primaryShade: 7, // white on it is 6 : 1, in light and dark
  white: "#fffdfa",
  black: "#2e2924",
  fontFamily: SANS,
  headings: { fontFamily: SERIF, fontWeight: "400" },
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  focusRing: "auto",
  components: {
    // The page itself never scrolls, so there is nothing to lock; the lock would need inline styles.
    Modal: { defaultProps: { lockScroll: false, centered: true, radius: "lg", transitionProps: { duration: 160 } } },
    Drawer: { defaultProps: { lockScroll: false, transitionProps: { duration: 200 } } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true, events: { hover: true, focus: true, touch: false } } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray", size: 36 } },
    Menu: { defaultProps: { shadow: "md", withInitialFocusPlaceholder: false } },
  },
});

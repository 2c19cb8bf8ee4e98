/**
 * Mantine writes its variables into a <style> element while the page runs, which our content security policy forbids
 * ('unsafe-inline' would be needed). So they are written into a file when the page is built.
 */
import { convertCssVariables, DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme } from "@mantine/core";
import type { Plugin } from "vite";
import { theme } from "../src/theme/theme.ts";

const NAME = "virtual:mantine-variables.css";

export function mantineVariables(): Plugin {
  return {
    name: "mantine-variables",
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load: (id) => (id === `\0${NAME}` ? variables() : undefined),
  };
}

export function variables(): string {
  const resolved = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme));
  return convertCssVariables(resolved, ":root");
}

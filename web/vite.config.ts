/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { mantineVariables } from "./build/mantineVariables.ts";

const SERVER = "http://127.0.0.1:8377"; // where `allears serve` listens

export default defineConfig({
  plugins: [react(), mantineVariables()],
  build: {
    outDir: "../src/allears/serve/static",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0, // the policy allows files of our own, not data in addresses
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700, // talking is one file on purpose: a page that stays open over an upgrade never misses a part
    license: { fileName: "licenses.md" }, // of what is built in
    modulePreload: { polyfill: false },
  },
  // `npm run dev` beside a running `allears serve`
  server: { proxy: { "/api": { target: SERVER, changeOrigin: true, headers: { origin: SERVER } } } },
  test: {
    environment: "node", // files that need a page say so in their first line: making one takes a second
    globals: true,
    setupFiles: ["./src/testing/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}", "build/**/*.test.ts"],
    css: true,
  },
});

// Builds the console into dist/: one small entry, the graph in its own chunk. The page loads nothing from other servers.

import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const root = fileURLToPath(new URL(".", import.meta.url));

export default defineConfig({
  root,
  base: "/",
  plugins: [react()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    // Inlining small assets into data: URLs would need a wider content policy than 'self'.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});

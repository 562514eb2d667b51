import { env } from "node:process";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Where `npm run dev` finds an API: that of `horae dev`, unless another is named.
const server = env.HORAE_URL ?? "http://127.0.0.1:8700";

// Everything the browser loads lies below /console/ of the API process that serves it.
export default defineConfig({
  base: "/console/",
  plugins: [react()],
  build: {
    outDir: "../src/horae/console",
    emptyOutDir: true,
    manifest: true, // tools/size.mjs reads it
    assetsInlineLimit: 0, // a data: address would need a hole in the content security policy
    modulePreload: { polyfill: false }, // the polyfill is an inline script
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/api": server, "/login": server } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});

/** Builds into the server's package, so that the wheel carries the pages and nobody needs Node to run them. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const master = process.env["RESOLUTE_MASTER"] ?? "http://127.0.0.1:8080";
const forwarded = ["/api", "/info", "/proxy", "/checkpoints"];

export default defineConfig({
  base: "/det/",
  plugins: [react()],
  build: {
    outDir: "../src/resolute/server/static",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: Object.fromEntries(forwarded.map((path) => [path, { target: master, ws: true }])) },
  test: { include: ["tests/**/*.test.{ts,tsx}"], environment: "node" },
});

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The output is committed and served from inside the Python package, so its names don't change.
export default defineConfig({
  plugins: [svelte()],
  publicDir: false,
  build: {
    outDir: "../src/navi/web",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    // Data in a style sheet would need a weaker Content-Security-Policy.
    assetsInlineLimit: 0,
    license: { fileName: "assets/licenses.md" },
    rolldownOptions: {
      input: {
        page: "index.html",
        // Has a file of its own, so that tests can run what is shipped.
        reducer: "src/reducer.ts",
      },
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        // What several parts share has a name of its own, not that of whichever file came first.
        codeSplitting: { groups: [{ name: "libraries", test: /node_modules/ }] },
      },
    },
  },
});

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The output is committed and served from inside the Python package, so its names don't change.
export default defineConfig({
  plugins: [svelte()],
  // Files with names that the manifest and the server know.
  publicDir: "public",
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
        // Have files of their own, so that tests can run what is shipped.
        reducer: "src/reducer.ts",
        question: "src/questions/question.ts",
        needs: "src/inbox/needs.ts",
      },
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        // What several parts share has a name of its own, not that of whichever file came first.
        // The highlighter is not among them: it is loaded only when there is code to colour.
        codeSplitting: { groups: [{ name: "libraries", test: /node_modules\/(?!highlight\.js)/ }] },
      },
    },
  },
});

// Every TypeScript and JavaScript example of a document that imports something compiles under the compiler policy of the project.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ROOT, trackedSources } from "../sources.ts";
import { fencesOf } from "./markdown.ts";

// Inside of this package, so that examples find the packages that they name.
const FOLDER = join(ROOT, "test", "tidy", "docs", ".snippets");
const IN_ROOM = /from "\.\.?\//;

const snippets = trackedSources((path) => path.endsWith(".md")).flatMap(({ path, text }) =>
  fencesOf(text)
    .filter(({ language, text: code }) => /^(ts|js)$/.test(language) && /^import /m.test(code))
    // An example that imports files beside it is compiled from the folder that it names.
    .map(({ text: code, line }) => ({ at: `${path}:${line}`, code })),
);

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

test("every example that imports something compiles", () => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  snippets.forEach(({ at, code }, index) => {
    const placed = IN_ROOM.test(code) ? code.replaceAll('from "../', 'from "../../../') : code;
    writeFileSync(join(FOLDER, `snippet-${index}.ts`), `// ${at}\n${placed}\n`);
  });
  // The kit of tests adds to vitest's own types there.
  const include = ["*.ts", "../../../support/global-setup.ts"];
  const config = { extends: "../../../../tsconfig.json", include, exclude: [] };
  writeFileSync(join(FOLDER, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  const compiled = spawnSync(tsc, ["--noEmit", "-p", FOLDER], { encoding: "utf8" });
  const places = snippets.map(({ at }, index) => `snippet-${index}.ts is ${at}`).join("\n");
  expect(compiled.stdout, places).toBe("");
  expect(compiled.status).toBe(0);
  expect(snippets.length).toBeGreaterThan(2);
});

// Every Python example of a document that imports pawl_sdk passes mypy in strict mode, and examples of tests run.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runToEnd } from "@pawl/deploy/python.ts";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { sourceEnv } from "../../support/python-source.ts";
import { pythonOrSkip } from "../../support/python.ts";
import { trackedSources } from "../sources.ts";
import { fencesOf } from "./markdown.ts";

const snippets = trackedSources((path) => path.endsWith(".md")).flatMap(({ path, text }) =>
  fencesOf(text)
    .filter(
      ({ language, text: code }) => language === "python" && /^(import|from) pawl_sdk/m.test(code),
    )
    .map(({ text: code, line }, index) => ({ at: `${path}:${line}`, index, code })),
);

/** Modules of the reader's own that examples import. */
const OWN_MODULES = ["bank", "charge"];
const CONFIG = [
  "[mypy]\nstrict = True",
  ...OWN_MODULES.map((name) => `[mypy-${name}]\nignore_missing_imports = True`),
].join("\n\n");

/** Checks one program; what mypy prints. */
async function checked(python: string, folder: string, code: string) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "example.py"), code);
  writeFileSync(join(folder, "mypy.ini"), CONFIG);
  const cache = join(folder, "..", "cache");
  const args = ["-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", cache, "example.py"];
  return await runToEnd(python, args, { cwd: folder, env: sourceEnv() });
}

test("every Python example that imports pawl_sdk passes mypy, and a wrong one does not", async (context) => {
  const python = await pythonOrSkip(context);
  const folder = temporaryFolder("snippets-python");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [index, { at, code }] of snippets.entries()) {
    const { code: exit, output } = await checked(python, join(folder, String(index)), code);
    expect(exit, `${at}\n${output}`).toBe(0);
  }
  expect(snippets.length).toBeGreaterThan(3);
  const wrong = await checked(python, join(folder, "wrong"), "import pawl_sdk\npawl_sdk.srve()\n");
  expect(wrong.output).toContain('has no attribute "srve"');
}, 300_000);

test("the Python example of testing handlers runs as printed", async (context) => {
  const python = await pythonOrSkip(context);
  const example = snippets.find(({ code }) => code.includes("run_handler(charge, 500)"));
  expect(example).toBeDefined();
  const { code, output } = await runToEnd(python, ["-c", example?.code ?? ""], {
    env: sourceEnv(),
  });
  expect(code, output).toBe(0);
});

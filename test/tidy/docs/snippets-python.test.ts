// Every Python example of a document that imports pawl_sdk passes mypy in strict mode, and examples of tests run.
import { rmSync, writeFileSync } from "node:fs";
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

/** Checks programs, each as a module of its own; what mypy prints. */
async function checked(python: string, codes: readonly string[]) {
  const folder = temporaryFolder("snippets-python");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = codes.map((_, index) => `example_${index}.py`);
  for (const [index, code] of codes.entries())
    writeFileSync(join(folder, files[index] ?? ""), code);
  writeFileSync(join(folder, "mypy.ini"), CONFIG);
  const args = ["-m", "mypy", "--config-file", "mypy.ini", ...files];
  return await runToEnd(python, args, { cwd: folder, env: sourceEnv() });
}

test("every Python example that imports pawl_sdk passes mypy, and a wrong one does not", async (context) => {
  const python = await pythonOrSkip(context);
  expect(snippets.length).toBeGreaterThan(3);
  // The last one is wrong, and the only one that mypy finds.
  const codes = [...snippets.map(({ code }) => code), "import pawl_sdk\npawl_sdk.srve()\n"];
  const { code, output } = await checked(python, codes);
  const places = snippets.map(({ at }, index) => `example_${index}.py is ${at}`).join("\n");
  expect(code).toBe(1);
  expect(output, places).toContain(`example_${snippets.length}.py:2: error`);
  expect(output).toContain('has no attribute "srve"');
  expect(output, `${output}\n${places}`).toContain("Found 1 error in 1 file");
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

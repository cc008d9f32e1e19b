// The Python package as its users have it: its own tests, its types, its lint, and its wheel in a clean environment.
import { makeEnvironment, programOf, runToEnd } from "@pawl/deploy/python.ts";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { pythonOrSkip, runModule } from "../support/python.ts";
import { PACKAGE } from "../support/python-source.ts";

/** pip fetches gRPC into the clean environment: 18 s alone, more on a busy machine. */
const WHEEL_MS = 180_000;
/** The Python of this repository, from the folder of the package. */
const LINTED = [".", "../../test", "../../deploy"];

test("the tests of the Python package pass", async (context) => {
  const python = await pythonOrSkip(context);
  expect(await runModule(python, "pytest", "-p", "no:cacheprovider")).toMatch(/\d+ passed/);
});

test("mypy --strict finds nothing in the package and its programs", async (context) => {
  const python = await pythonOrSkip(context);
  expect(await runModule(python, "mypy")).toContain("no issues found");
});

test("ruff finds no fault and no import out of order in the package and its programs", async (context) => {
  const python = await pythonOrSkip(context);
  const found = await runModule(python, "ruff", "check", "--config=pyproject.toml", ...LINTED);
  expect(found).toContain("All checks passed!");
});

test(
  "the wheel runs the README's first handler in a clean environment",
  async (context) => {
    const python = await pythonOrSkip(context);
    const folder = temporaryFolder("wheel");
    await runModule(python, "hatchling", "build", "-t", "wheel", "-d", folder);
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl")) ?? "";
    expect(wheel).toBe("pawl_sdk-0.1.0-py3-none-any.whl");
    const clean = join(folder, "clean");
    await makeEnvironment(python, clean, [join(folder, wheel)]);
    const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
    const blocks = [...readme.matchAll(/```python title="(\w+\.py)"\n([\s\S]*?)```/g)];
    for (const [, name = "", code = ""] of blocks) writeFileSync(join(folder, name), code);
    const program = programOf(clean, "python");
    const tested = await runToEnd(program, [join(folder, "test_charge.py")], { cwd: folder });
    expect(tested).toEqual({ code: 0, output: "receipt r-c1\n" });
    // Installed, the package has its version and its types, and nothing beside itself.
    const asked =
      "import pawl_sdk, pathlib; p = pathlib.Path(pawl_sdk.__file__).parent; print(pawl_sdk.__version__, (p / 'py.typed').exists())";
    expect((await runToEnd(program, ["-c", asked])).output).toBe("0.1.0 True\n");
  },
  WHEEL_MS,
);

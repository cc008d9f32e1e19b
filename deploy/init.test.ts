// `pawl init` from the outside: three files in the caller's folder, and never over files that are there. It takes 10 s.
// In a fresh clone it makes the Python environment if no other test has. test/flow/handler-projects.test.ts runs the projects.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../test/support/folder.ts";
import { goOrSkip } from "../test/support/go.ts";
import { pythonOrSkip } from "../test/support/python.ts";
import { ROOT } from "./settings.ts";

const TIMEOUT_MS = 180_000;

/** Types `pawl init` in a folder. */
function init(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["deploy/init.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, INIT_CWD: cwd, ...env },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

function emptyFolder(): string {
  const folder = temporaryFolder("init");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const read = (...parts: readonly string[]): string => readFileSync(join(...parts), "utf8");

test(
  "a TypeScript project has three files, and depends on the built package",
  { timeout: TIMEOUT_MS },
  () => {
    const cwd = emptyFolder();
    const { status, stdout, stderr } = init(cwd, ["ts"]);
    expect([status, stderr]).toEqual([0, ""]);
    const folder = join(cwd, "hello-handlers");
    expect(readdirSync(folder)).toEqual(["handlers.ts", "package.json", "workflow.yaml"]);
    const tarball =
      /"@pawl\/handler": "file:([^"]+)"/.exec(read(folder, "package.json"))?.[1] ?? "";
    expect(existsSync(tarball)).toBe(true);
    // The command that is printed is found from the folder.
    const pawl = /^ {2}(\S+) dev -- node handlers\.ts$/m.exec(stdout)?.[1] ?? "";
    expect(existsSync(join(folder, pawl))).toBe(true);
  },
);

test(
  "a Python project has three files, and requires the built wheel",
  { timeout: TIMEOUT_MS },
  async (context) => {
    await pythonOrSkip(context);
    const cwd = emptyFolder();
    const { status, stdout, stderr } = init(cwd, ["python", "mine"]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(readdirSync(join(cwd, "mine"))).toEqual([
      "handlers.py",
      "requirements.txt",
      "workflow.yaml",
    ]);
    const wheel = /^pawl-sdk @ (file:\S+)$/m.exec(read(cwd, "mine", "requirements.txt"))?.[1] ?? "";
    expect(existsSync(fileURLToPath(wheel))).toBe(true);
    expect(stdout).toContain("dev -- .venv/bin/python handlers.py\n");
  },
);

test("a Go project has three files, and uses the module of the clone", (context) => {
  goOrSkip(context);
  const cwd = emptyFolder();
  expect(init(cwd, ["go"])).toMatchObject({ status: 0, stderr: "" });
  const folder = join(cwd, "hello-handlers");
  expect(readdirSync(folder)).toEqual(["go.mod", "main.go", "workflow.yaml"]);
  const module = /^replace \S+ => "([^"]+)"$/m.exec(read(folder, "go.mod"))?.[1] ?? "";
  expect(existsSync(join(module, "go.mod"))).toBe(true);
});

test("a folder that has one of the files is refused and stays as it is", () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "main.go"), "package mine\n");
  const { status, stderr } = init(cwd, ["go", "."]);
  expect(status).toBe(1);
  expect(stderr).toContain("has main.go already; nothing was written");
  expect(readdirSync(cwd)).toEqual(["main.go"]);
  expect(read(cwd, "main.go")).toBe("package mine\n");
});

test("without the tools of the language nothing is written, and the message says what to install", () => {
  const cwd = emptyFolder();
  const { status, stderr } = init(cwd, ["python"], { PATH: cwd });
  expect(status).toBe(1);
  expect(stderr).toContain("no Python >= 3.11");
  expect(stderr).toContain("install Python 3.11 or newer");
  expect(readdirSync(cwd)).toEqual([]);
});

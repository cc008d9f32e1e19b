// ./pawl as a person and a script call it: a real process, from any folder, with nothing but the answer on standard output.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ScriptedGateway } from "@pawl/client/scripted-gateway";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const PAWL = fileURLToPath(new URL("../../../pawl", import.meta.url));

test("./pawl prints only the answer, and finds files from the caller's folder", async () => {
  const files: string[] = [];
  await using gateway = new ScriptedGateway({
    runs: { listRuns: () => ({ runs: [{ runId: "r1" }] }) },
    workflows: {
      validateWorkflow({ definition }) {
        files.push(definition?.text ?? "");
        return {};
      },
    },
  });
  const env = { ...process.env, PAWL_ADDRESS: await gateway.start() };
  const folder = mkdtempSync(join(tmpdir(), "pawl-launcher-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const listed = await run(PAWL, ["run", "list", "-o", "json"], { cwd: folder, env });
  expect(JSON.parse(listed.stdout)).toMatchObject({ runs: [{ runId: "r1" }] });
  expect(listed.stderr).toBe("");
  writeFileSync(join(folder, "x.yaml"), "id: here\n");
  symlinkSync(PAWL, join(folder, "linked"));
  const checked = await run("./linked", ["workflow", "validate", "-f", "x.yaml"], {
    cwd: folder,
    env,
  });
  expect(checked.stdout).toBe("x.yaml is valid\n");
  expect(files).toEqual(["id: here\n"]);
  const help = await run("./linked", ["run", "--help"], { cwd: folder, env });
  expect(help.stdout).toContain("Usage: ./linked run");
});

// A child never outlives a parent that was killed outright.
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { until } from "../test/support/until.ts";
import { commandLine } from "./guard.ts";
import { ROOT } from "./settings.ts";

const PARENT = `
  import { spawn } from "node:child_process";
  import { guardChild } from "./deploy/guard.ts";
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  guardChild(child, "TERM");
  console.log(child.pid);
  setInterval(() => {}, 1000);
`;

test("a guarded child ends when its parent is killed", async () => {
  const parent = spawn(process.execPath, ["--input-type=module-typescript", "-e", PARENT], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pid = await new Promise<number>((resolve) =>
    parent.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString()))),
  );
  expect(commandLine(pid)).toContain("sleep 600");
  parent.kill("SIGKILL");
  await until(() => commandLine(pid) === "", { what: "the child to end" });
});

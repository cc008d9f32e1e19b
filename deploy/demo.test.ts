// The demonstration from the outside: what a person types and sees.
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../test/support/folder.ts";
import { freePort } from "./ports.ts";
import { ROOT } from "./settings.ts";

test("the demo kills the executor under a streaming run, which comes through whole", async () => {
  const folder = temporaryFolder("demo");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = {
    ...process.env,
    PAWL_DATA_DIR: folder,
    PAWL_GATEWAY_PORT: String(await freePort()),
    PAWL_DRAIN_MS: "3000",
  };
  const { stdout } = await promisify(execFile)(process.execPath, ["deploy/demo.ts", "--once"], {
    cwd: ROOT,
    env,
    timeout: 170_000,
  });
  const told = [
    "Open it now and watch:",
    "starts the story",
    "kill -9",
    "takes the claim",
    "starts the story",
    "run.completed",
    "✔ the card was charged once",
  ];
  expect(stdout).toMatch(new RegExp(told.join("[\\s\\S]*")));
  expect(stdout).not.toContain("✖");
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
}, 180_000);

// The layers as a program that broke out of its isolate would meet them: a real child, started as the sandbox starts it, that tries.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { type SandboxCommand, SANDBOX_UID, sandboxCommands } from "./layers.ts";
import { seccompProgram } from "./seccomp.ts";

const isRoot = process.getuid?.() === 0;
const commands = sandboxCommands({ isRoot, interpreted: false });
/** All that this host can have: without root there is no account, without perl or on another machine than x64 no filter. */
const withLayer = (layer: string): readonly SandboxCommand[] =>
  commands.filter(({ name }) => name.split("+").includes(layer));

/** The facts that a script finds in a process with these layers. */
function tried<Found>({ file, args }: SandboxCommand, script: string): Found {
  const line = [...args.slice(0, -1), "-e", script];
  const said = execFileSync(file, line, { env: {}, cwd: "/", encoding: "utf8" });
  return JSON.parse(said) as Found;
}

const BREAKOUT = `
const { spawnSync } = require("node:child_process");
const fs = require("node:fs"), net = require("node:net");
const codeOf = (act) => { try { act(); return "done"; } catch (error) { return error.code; } };
const found = {
  read: codeOf(() => fs.readFileSync("/etc/hostname")),
  write: codeOf(() => fs.writeFileSync("/tmp/pawl-sandbox-breakout", "x")),
  remove: codeOf(() => fs.unlinkSync("/tmp/pawl-sandbox-breakout")),
  start: spawnSync("/bin/true").error?.code,
  signal: codeOf(() => process.kill(process.ppid, 0)),
};
net.connect(9, "127.0.0.1").on("error", ({ code }) => console.log(JSON.stringify({ ...found, connect: code })));
`;

const OWN_UID = "console.log(JSON.stringify({ uid: process.getuid() }))";

test("a child behind the filter opens no socket, writes no file, and starts and signals no process", () => {
  const refused = { write: "EPERM", remove: "EPERM", start: "EPERM", signal: "EPERM" };
  for (const command of withLayer("seccomp")) {
    const found = tried<object>(command, BREAKOUT);
    expect(found, command.name).toMatchObject({ read: "done", connect: "EPERM", ...refused });
  }
});

test("a child has an account of its own, which is neither the account `nobody` nor the account of the database", () => {
  const nobody = Number(execFileSync("id", ["-u", "nobody"], { encoding: "utf8" }));
  expect(SANDBOX_UID).not.toBe(nobody);
  for (const command of withLayer("uid")) {
    const { uid } = tried<{ uid: number }>(command, OWN_UID);
    expect(uid, command.name).toBe(SANDBOX_UID);
  }
});

test("layers are tried from the strongest to none, and each has a way without the filter", () => {
  const names = sandboxCommands({ isRoot: true, interpreted: false }).map(({ name }) => name);
  expect(names[0]).toMatch(/^netns\+uid/);
  expect(names.at(-1)).toBe("plain");
  for (const name of names.filter((one) => one.endsWith("+seccomp")))
    expect(names).toContain(name.replace("+seccomp", ""));
});

test("a machine whose calls are not known gets no filter", () => {
  expect(seccompProgram("arm64")).toBeUndefined();
});

// The configuration as an operator asks for it: by the flags of `npm start`, and by the program of `pawl config`. The services are real
// processes that connect to nothing.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { ROOT } from "./settings.ts";

const SECRET = "hunter2";

function ask(script: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const { PATH = "" } = process.env;
  const asked = spawnSync(process.execPath, [script, ...args], {
    cwd: ROOT,
    env: { PATH, ...env },
    encoding: "utf8",
  });
  return { code: asked.status, out: asked.stdout, err: asked.stderr };
}

test("every fault of npm start and of its services is listed at once (S4.42)", () => {
  const { code, out, err } = ask("deploy/local.ts", ["--check-config"], {
    PAWL_GATEWAY_PORT: "0",
    PAWL_DATA_DIR: "package.json",
    PAWL_POLL_MS: "1",
    PAWL_LEASE_MS: "30s",
    PAWL_LEASE_MSS: "1",
    PAWL_EXECUTOR_SLOTS: "many",
    PAWL_LLM_PROVIDERS: `/no/such/file-${SECRET}`,
    PAWL_VALUES_STORE: "directory",
    PAWL_TEST: "1",
    PAWL_FAILPOINTS: "nowhere=kill",
  });
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).not.toContain(SECRET);
  for (const line of [
    "PAWL_GATEWAY_PORT: expected a port from 1 to 65535 (npm start)",
    "PAWL_DATA_DIR: expected a folder, but this is a file (npm start)",
    'PAWL_POLL_MS: expected whole milliseconds from 100 to 60000, not "1" (gateway)',
    'PAWL_POLL_MS: expected whole milliseconds from 50 to 60000, not "1" (scheduler)',
    'PAWL_LEASE_MS: expected whole milliseconds from 500 to 600000, not "30s" (scheduler)',
    "PAWL_LEASE_MSS: no such variable; did you mean PAWL_LEASE_MS? (gateway, scheduler, executor)",
    'PAWL_EXECUTOR_SLOTS: expected a whole number from 1 to 10000, not "many" (executor)',
    "PAWL_LLM_PROVIDERS: expected JSON, or the path of a file that can be read (executor)",
    "PAWL_VALUES_DIRECTORY: is required with PAWL_VALUES_STORE=directory (gateway, scheduler)",
    "PAWL_FAILPOINTS: expected POINT",
  ])
    expect(err).toContain(line);
});

test("npm start prints each value with its source, without secrets, and starts nothing (S4.42)", () => {
  const { code, out } = ask("deploy/local.ts", ["--print-config", "--json", "--once"], {
    DATABASE_URL: `postgres://u:${SECRET}@127.0.0.1:1/d?sslpassword=${SECRET}`,
    PAWL_LEASE_MS: "40000",
    PAWL_METRICS_PORT: "9000",
  });
  expect(code).toBe(0);
  expect(out).not.toContain(SECRET);
  // The program under test wrote it.
  const { services } = JSON.parse(out) as {
    services: { service: string; variables: { name: string; value: unknown; source: string }[] }[];
  };
  const rows = services.flatMap(({ service, variables }) =>
    variables.map(({ name, value, source }) => [service, name, value, source]),
  );
  for (const row of [
    ["npm start", "--once", true, "flag"],
    ["npm start", "--open", false, "default"],
    ["gateway", "PAWL_GATEWAY_PORT", 7400, "start"],
    ["scheduler", "PAWL_LEASE_MS", 40_000, "env"],
    ["scheduler", "PAWL_METRICS_PORT", 9001, "start"],
    ["scheduler", "PAWL_RENEW_MS", 10_000, "default"],
    ["executor", "PAWL_EXECUTOR_TOKEN", "***", "start"],
  ])
    expect(rows).toContainEqual(row);
});

test("pawl config asks one service about the environment of the caller (S4.42)", () => {
  const wrong = ask("deploy/config.ts", ["check", "gateway"], { PAWL_LEASE_MS: "of another" });
  expect(wrong.code).toBe(1);
  expect(wrong.err).toMatch(
    /^the configuration is wrong:\n {2}DATABASE_URL: is required: [^\n]*\n$/,
  );
});

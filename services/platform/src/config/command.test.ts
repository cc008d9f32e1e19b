import { expect, test } from "vitest";
import { z } from "zod";

import { describeVariables, readConfig, type Shell } from "./command.ts";
import { parseEnv, type Env } from "./env.ts";
import { databaseUrl, port } from "./settings.ts";

class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

const schema = z.object({ DATABASE_URL: databaseUrl(), PAWL_GATEWAY_PORT: port(7400) });

const setup = (argv: readonly string[], env: Env) => {
  const printed = { out: "", err: "" };
  const shell: Shell = {
    argv,
    env,
    stdout: { write: (text) => (printed.out += text) },
    stderr: { write: (text) => (printed.err += text) },
    exit: (code) => {
      throw new Exit(code);
    },
  };
  const read = () => readConfig((from) => parseEnv(schema, from), shell);
  return { printed, read };
};

const env = { DATABASE_URL: "postgres://u:hunter2@h/d" };

test("a wrong configuration is printed whole and ends with 78", () => {
  const { printed, read } = setup([], { PAWL_GATEWAY_PORT: "x" });
  expect(read).toThrow("exit 78");
  expect(printed.err).toMatch(
    /DATABASE_URL: is required.*\n {2}PAWL_GATEWAY_PORT: expected a port/,
  );
});

test("--check-config ends with 0 and prints nothing", () => {
  const { printed, read } = setup(["--check-config"], env);
  expect(read).toThrow("exit 0");
  expect(printed).toEqual({ out: "", err: "" });
});

test("--print-config prints the configuration without secrets", () => {
  const { printed, read } = setup(["--print-config"], env);
  expect(read).toThrow("exit 0");
  expect(JSON.parse(printed.out)).toEqual({
    DATABASE_URL: "postgres://u:***@h/d",
    PAWL_GATEWAY_PORT: 7400,
  });
});

test("without a flag the configuration is returned", () => {
  expect(setup(["node", "main.ts"], env).read().PAWL_GATEWAY_PORT).toBe(7400);
});

test("a schema describes the purpose and the default of its variables", () => {
  expect(describeVariables(schema)).toEqual([
    { name: "DATABASE_URL", description: expect.stringContaining("PostgreSQL") },
    {
      name: "PAWL_GATEWAY_PORT",
      description: expect.stringContaining("TCP port"),
      default: "7400",
    },
  ]);
});

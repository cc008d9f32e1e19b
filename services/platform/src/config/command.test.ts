import { expect, test } from "vitest";
import { z } from "zod";

import { configRows, describeVariables, readConfig, type Shell } from "./command.ts";
import { ConfigFault, parseEnv, type Env } from "./env.ts";
import { databaseUrl, port, retention } from "./settings.ts";

class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

const schema = z.object({ DATABASE_URL: databaseUrl(), PAWL_GATEWAY_PORT: port(7400) });

const setup = (flags: readonly string[], env: Env) => {
  const printed = { out: "", err: "" };
  const shell: Shell = {
    argv: ["node", "main.ts", ...flags],
    env,
    stdout: { write: (text) => (printed.out += text) },
    stderr: { write: (text) => (printed.err += text) },
    exit: (code) => {
      throw new Exit(code);
    },
  };
  const parse = (from: Env) => parseEnv(schema, from);
  const also = (from: Env): void => {
    if (from["PAWL_TEST"] === "wrong")
      throw new ConfigFault([{ variable: "PAWL_TEST", expected: "expected 1" }]);
  };
  const read = () => readConfig({ service: "gateway", schema, parse, also }, shell);
  return { printed, read };
};

const env = { DATABASE_URL: "postgres://u:hunter2@h/d" };
const WRONG = { PAWL_GATEWAY_PORT: "x", PAWL_TEST: "wrong" };

test("a start with a wrong configuration prints every fault and ends with 78", () => {
  const { printed, read } = setup([], WRONG);
  expect(read).toThrow("exit 78");
  expect(printed.err).toMatch(
    /^gateway: .*\n {2}DATABASE_URL: is required.*\n {2}PAWL_GATEWAY_PORT: expected a port .*, not "x"\n {2}PAWL_TEST: expected 1\n$/,
  );
});

test("--check-config ends with 0 or 1 and says what it found (S4.42)", () => {
  const right = setup(["--check-config"], env);
  expect(right.read).toThrow("exit 0");
  expect(right.printed).toEqual({
    out: "gateway: the configuration is right; 2 variables, 1 of them set\n",
    err: "",
  });
  const wrong = setup(["--check-config", "--json"], WRONG);
  expect(wrong.read).toThrow("exit 1");
  expect(JSON.parse(wrong.printed.out)).toEqual({
    service: "gateway",
    faults: [
      { variable: "DATABASE_URL", expected: expect.stringContaining("is required") },
      { variable: "PAWL_GATEWAY_PORT", expected: "expected a port from 0 to 65535", value: "x" },
      { variable: "PAWL_TEST", expected: "expected 1" },
    ],
  });
});

test("--print-config prints each variable with its source and without secrets (S4.42)", () => {
  const { printed, read } = setup(["--print-config"], env);
  expect(read).toThrow("exit 0");
  expect(printed.out).toBe(
    "DATABASE_URL       env      postgres://u:***@h/d\nPAWL_GATEWAY_PORT  default  7400\n",
  );
  const json = setup(["--print-config", "--json"], env);
  expect(json.read).toThrow("exit 0");
  expect(JSON.parse(json.printed.out)).toMatchObject({
    service: "gateway",
    variables: [
      { name: "DATABASE_URL", value: "postgres://u:***@h/d", source: "env" },
      { name: "PAWL_GATEWAY_PORT", value: 7400, source: "default" },
    ],
  });
});

test("a misspelt flag starts nothing", () => {
  const { printed, read } = setup(["--chek-config"], env);
  expect(read).toThrow("exit 64");
  expect(printed.err).toContain("--chek-config");
});

test("a policy of retention is printed as the operator wrote it (S4.42)", () => {
  const shape = z.object({ PAWL_RETENTION: retention("how long") });
  const rowsOf = (from: Env) => configRows(shape, parseEnv(shape, from), from);
  const value = "all=90d, checkout/all=forever";
  expect(rowsOf({ PAWL_RETENTION: value })).toEqual([
    { name: "PAWL_RETENTION", value, source: "env" },
  ]);
  expect(rowsOf({})).toEqual([{ name: "PAWL_RETENTION", value: "", source: "default" }]);
});

test("without a flag the configuration is returned", () => {
  expect(setup([], env).read().PAWL_GATEWAY_PORT).toBe(7400);
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

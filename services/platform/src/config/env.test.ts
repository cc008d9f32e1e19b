import { inspect } from "node:util";

import { expect, test } from "vitest";
import { z } from "zod";

import { ConfigFault, parseEnv } from "./env.ts";
import { address, count, databaseUrl, flag, logLevel, milliseconds, port } from "./settings.ts";

const setup = () =>
  z.object({
    DATABASE_URL: databaseUrl(),
    PAWL_SCHEDULER_PORT: port(7401),
    PAWL_LEASE_MS: milliseconds({ default: 30_000, min: 100, max: 600_000, describe: "lease" }),
    PAWL_EXECUTOR_SLOTS: count({ default: 8, min: 1, max: 1_000, describe: "slots" }),
    PAWL_SCHEDULER_ADDRESS: address("127.0.0.1:7401"),
    PAWL_LOG_LEVEL: logLevel(),
    PAWL_REFLECTION: flag(true, "reflection"),
  });

const DATABASE_URL = "postgres://pawl:hunter2@localhost:5432/pawl";

const faultsOf = (work: () => unknown): ConfigFault => {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigFault) return error;
    throw error;
  }
  throw new Error("no fault was found");
};

test("an absent or empty variable takes its default", () => {
  const config = parseEnv(setup(), { DATABASE_URL, PAWL_LEASE_MS: "", HOME: "/home" });
  expect(config).toMatchObject({
    PAWL_SCHEDULER_PORT: 7401,
    PAWL_LEASE_MS: 30_000,
    PAWL_EXECUTOR_SLOTS: 8,
    PAWL_SCHEDULER_ADDRESS: "127.0.0.1:7401",
    PAWL_LOG_LEVEL: "info",
    PAWL_REFLECTION: true,
  });
});

test("every fault is reported at once with its variable and the expected form", () => {
  const fault = faultsOf(() =>
    parseEnv(setup(), {
      PAWL_SCHEDULER_PORT: "70000",
      PAWL_LEASE_MS: "1e3",
      PAWL_EXECUTOR_SLOTS: "many",
      PAWL_SCHEDULER_ADDRESS: "nowhere",
      PAWL_LOG_LEVEL: "loud",
      PAWL_REFLECTION: "maybe",
    }),
  );
  expect(Object.fromEntries(fault.faults.map((one) => [one.variable, one.expected]))).toEqual({
    DATABASE_URL: expect.stringContaining("is required"),
    PAWL_SCHEDULER_PORT: "expected a port from 0 to 65535",
    PAWL_LEASE_MS: "expected whole milliseconds from 100 to 600000",
    PAWL_EXECUTOR_SLOTS: "expected a whole number from 1 to 1000",
    PAWL_SCHEDULER_ADDRESS: expect.stringContaining("expected host:port"),
    PAWL_LOG_LEVEL: expect.stringContaining("expected one of trace, debug"),
    PAWL_REFLECTION: "expected on or off",
  });
  expect(fault.message.split("\n")).toHaveLength(8);
});

test("an unknown PAWL_ variable is a fault that suggests the right name", () => {
  const fault = faultsOf(() => parseEnv(setup(), { DATABASE_URL, PAWL_LEASE_MSS: "5" }));
  expect(fault.faults).toEqual([
    { variable: "PAWL_LEASE_MSS", expected: "no such variable; did you mean PAWL_LEASE_MS?" },
  ]);
});

test("a variable of another service is not a fault", () => {
  expect(parseEnv(setup(), { DATABASE_URL, PAWL_GATEWAY_PORT: "x" })).toBeDefined();
  const fault = faultsOf(() =>
    parseEnv(setup(), { DATABASE_URL, PAWL_GATEWAY_PORT: "x" }, { known: [] }),
  );
  expect(fault.faults[0]?.variable).toBe("PAWL_GATEWAY_PORT");
});

test("a fault repeats a value that is a number or a word, and no value that may be a secret", () => {
  const fault = faultsOf(() =>
    parseEnv(setup(), {
      DATABASE_URL: "mysql://root:hunter2@db",
      PAWL_LEASE_MS: "30s",
      PAWL_SCHEDULER_PORT: "redis://:hunter2@db",
    }),
  );
  expect(fault.message).not.toContain("hunter2");
  expect(fault.message).toContain(
    'PAWL_LEASE_MS: expected whole milliseconds from 100 to 600000, not "30s"',
  );
});

test("rules about several variables are checked with all others, unless one of theirs is faulty", () => {
  const faults = (env: Record<string, string>) =>
    faultsOf(() =>
      parseEnv(setup(), env, {
        rules: [
          {
            reads: ["PAWL_LEASE_MS", "PAWL_EXECUTOR_SLOTS"],
            faults: ({ PAWL_LEASE_MS: leaseMs }) => [
              { variable: "PAWL_LEASE_MS", expected: `expected more, not ${leaseMs}` },
            ],
          },
        ],
      }),
    ).faults.map(({ variable }) => variable);
  expect(faults({ PAWL_LEASE_MS: "200" })).toEqual(["DATABASE_URL", "PAWL_LEASE_MS"]);
  expect(faults({ PAWL_EXECUTOR_SLOTS: "many" })).toEqual(["DATABASE_URL", "PAWL_EXECUTOR_SLOTS"]);
});

test("the configuration cannot be changed and prints without its secrets", () => {
  const config = parseEnv(setup(), { DATABASE_URL });
  expect(Object.isFrozen(config)).toBe(true);
  expect(config.DATABASE_URL.reveal()).toBe(DATABASE_URL);
  for (const shown of [JSON.stringify(config), inspect(config), config.DATABASE_URL.toString()]) {
    expect(shown).not.toContain("hunter2");
    expect(shown).toContain("postgres://pawl:***@localhost:5432/pawl");
  }
});

test("several addresses and gRPC targets are addresses", () => {
  const schema = z.object({ PAWL_SCHEDULER_ADDRESS: address("127.0.0.1:7401") });
  for (const text of ["127.0.0.1:1,127.0.0.1:2", "dns:///scheduler:7401", "[::1]:7401"]) {
    expect(parseEnv(schema, { PAWL_SCHEDULER_ADDRESS: text }).PAWL_SCHEDULER_ADDRESS).toBe(text);
  }
});

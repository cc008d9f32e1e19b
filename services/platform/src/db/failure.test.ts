import { EngineError } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";
import { failureKind, type FailureKind, lastFault, storeFault } from "./failure.ts";

const coded = (code: string): Error => Object.assign(new Error("text of the server"), { code });

const STATES: Readonly<Record<FailureKind, readonly string[]>> = {
  store: [
    ...["08006", "25006", "57P01", "57P02", "57P03", "53100", "53200", "53300", "58030", "42501"],
    ...["XX000", "XX001", "57014", "25P03", "28P01", "3D000", "26000", "0A000", "P0001", "ZZ999"],
    ...["ECONNREFUSED", "EPIPE", "EHOSTUNREACH", "EAI_AGAIN", "ERR_STREAM_DESTROYED"],
  ],
  contention: ["40001", "40P01"],
  locked: ["55P03"],
  duplicate: ["23505"],
  data: ["22021", "22P05", "23502", "23514", "54000"],
  code: ["ERR_INVALID_ARG_TYPE"],
};

test.each(Object.entries(STATES))("the codes of %s give this kind", (kind, codes) => {
  for (const code of codes) expect([code, failureKind(coded(code))]).toEqual([code, kind]);
});

test("a throw of our own code is no failure of the database", () => {
  expect(failureKind(new TypeError("x is not a function"))).toBe("code");
  expect(failureKind(new EngineError("INTERNAL", "no"))).toBe("code");
  expect(failureKind(undefined)).toBe("code");
  expect(failureKind(new Error("Connection terminated unexpectedly"))).toBe("store");
});

test("an unknown failure of the database is retryable, and names its code but not its message", () => {
  const fault = storeFault(coded("ZZ999"));
  expect(fault).toMatchObject({ reason: "STORE_UNAVAILABLE", retryable: true });
  expect(String(fault)).toContain("ZZ999");
  expect(String(fault)).not.toContain("text of the server");
  expect(storeFault(fault)).toBe(fault);
});

test("a failure about the values stays as it is", () => {
  for (const code of [...STATES.duplicate, ...STATES.data, ...STATES.contention]) {
    const error = coded(code);
    expect(storeFault(error)).toBe(error);
  }
});

test("a lock that is held through every try counts as STORE_UNAVAILABLE", () => {
  expect(lastFault(coded("55P03"))).toMatchObject({ reason: "STORE_UNAVAILABLE" });
});

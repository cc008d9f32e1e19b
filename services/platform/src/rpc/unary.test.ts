import type { sendUnaryData, ServerUnaryCall, StatusObject } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";
import { toGrpcStatus, toStatus } from "./status.ts";
import { unary } from "./unary.ts";

/** The part of a call that `unary` uses. */
const callOf = (): ServerUnaryCall<string, string> => {
  const call = {
    request: "hello",
    getDeadline: () => Date.now() + 60_000,
    on: () => call,
  };
  // Only these parts of grpc-js's call are used.
  return call as unknown as ServerUnaryCall<string, string>;
};

/** The answer that the caller gets. */
const answerTo = (
  handler: () => Promise<string>,
  onInternal: () => void = () => {},
): Promise<Partial<StatusObject>> =>
  new Promise((resolve) => {
    const callback: sendUnaryData<string> = (error) => resolve(error ?? {});
    unary(handler, onInternal)(callOf(), callback);
  });

/** An error whose every property throws when it is looked at. */
const hostile = (): unknown =>
  new Proxy(new EngineError("LIMIT_EXCEEDED", "no"), {
    get: () => {
      throw new Error("do not look");
    },
  });

test("every thrown value has a status, even if writing its details fails", () => {
  const faults: unknown[] = [
    hostile(),
    Object.create(null),
    undefined,
    Symbol("s"),
    new EngineError("INPUT_INVALID", "bad", {
      // Not text, whatever the types say: the mapping cannot write it.
      metadata: { seq: 1n as unknown as string },
    }),
  ];
  for (const fault of faults) {
    expect(toStatus(fault, () => {}).code).toBeGreaterThan(0);
    expect(toGrpcStatus(fault, () => {}).code).toBeGreaterThan(0);
  }
  const broken = (): never => {
    throw new Error("the log is full");
  };
  expect(toGrpcStatus(new Error("bug"), broken)).toMatchObject({ code: 13 });
});

test("a call is answered when the mapping of its error fails", async () => {
  expect(await answerTo(() => Promise.reject(hostile()))).toMatchObject({ code: 13 });
  const thrown = await answerTo(
    () => Promise.reject(new Error("bug")),
    () => {
      throw new Error("the log is full");
    },
  );
  expect(thrown).toMatchObject({ code: 13 });
});

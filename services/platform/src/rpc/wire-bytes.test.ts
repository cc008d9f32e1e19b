import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import {
  SchedulerItemSchema,
  WorkerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyInit } from "./any-message.fixture.ts";
import { wireBytes } from "./wire-bytes.ts";

fc.configureGlobal({ seed: 1 });

test.each([SchedulerItemSchema, WorkerItemSchema])(
  "no $typeName takes more bytes than were counted, as an init object or as a message",
  (schema) => {
    const holds = (init: Record<string, unknown>): void => {
      const message = create(schema, init);
      const { length } = toBinary(schema, message);
      expect(wireBytes(init)).toBeGreaterThanOrEqual(length);
      expect(wireBytes(message)).toBeGreaterThanOrEqual(length);
    };
    fc.assert(
      // Text with a lone surrogate has no encoding.
      fc.property(
        anyInit(schema).filter((init) => isWellFormed(init)),
        holds,
      ),
      { numRuns: 500 },
    );
  },
);

test("the keys and values of a map count", () => {
  const metadata = { ["k".repeat(1_000)]: "ü".repeat(1_000), short: "" };
  const bytes = toBinary(ErrorInfoSchema, create(ErrorInfoSchema, { metadata })).length;
  expect(wireBytes({ metadata })).toBeGreaterThanOrEqual(bytes);
});

test("large bytes and long texts are counted as they are, within a kilobyte", () => {
  const value = { contextJson: new Uint8Array(1_000_000), nodeType: "€".repeat(100_000) };
  const item = { item: { case: "assignment", value } } as const;
  const { length } = toBinary(SchedulerItemSchema, create(SchedulerItemSchema, item));
  expect(wireBytes(item)).toBeGreaterThanOrEqual(length);
  expect(wireBytes(item)).toBeLessThan(length + 1_024);
});

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return true;
  return Object.values(value).every(isWellFormed);
};

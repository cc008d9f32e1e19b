import { NodeStatusSchema, RunKindSchema, RunStatusSchema } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import {
  fromWireNodeStatus,
  fromWireRunKind,
  fromWireRunStatus,
  toWireNodeStatus,
  toWireRunKind,
  toWireRunStatus,
} from "./status.ts";

const known = (values: readonly { readonly number: number }[]): number[] =>
  values.map(({ number }) => number).filter((number) => number !== 0);

test("every status and kind of the contract has one word, both ways", () => {
  for (const number of known(RunStatusSchema.values)) {
    const word = fromWireRunStatus(number);
    expect(word === undefined ? undefined : toWireRunStatus(word)).toBe(number);
  }
  for (const number of known(NodeStatusSchema.values)) {
    const word = fromWireNodeStatus(number);
    expect(word === undefined ? undefined : toWireNodeStatus(word)).toBe(number);
  }
  for (const number of known(RunKindSchema.values)) {
    const word = fromWireRunKind(number);
    expect(word === undefined ? undefined : toWireRunKind(word)).toBe(number);
  }
});

test("what the contract does not know is undefined", () => {
  expect(fromWireRunStatus(0)).toBeUndefined();
  expect(fromWireNodeStatus(99)).toBeUndefined();
  expect(fromWireRunKind(-1)).toBeUndefined();
});

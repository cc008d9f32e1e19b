import { NodeStatusSchema, RunKindSchema, RunStatusSchema } from "@pawl/proto/pawl/v1/run_pb";
import { NodeStatus as WireNodeStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import {
  fromWireRunKind,
  fromWireRunStatus,
  namesOf,
  toWireNodeStatus,
  toWireRunKind,
  toWireRunStatus,
} from "./enum.ts";

const known = (values: readonly { readonly number: number }[]): number[] =>
  values.map(({ number }) => number).filter((number) => number !== 0);
const { nameOf } = namesOf(WireNodeStatus);

test("every status and kind of the contract has one word, both ways", () => {
  for (const number of known(RunStatusSchema.values)) {
    const word = fromWireRunStatus(number);
    expect(word === undefined ? undefined : toWireRunStatus(word)).toBe(number);
  }
  for (const number of known(NodeStatusSchema.values)) {
    const word = nameOf(number);
    expect(word === undefined ? undefined : toWireNodeStatus(word)).toBe(number);
  }
  for (const number of known(RunKindSchema.values)) {
    const word = fromWireRunKind(number);
    expect(word === undefined ? undefined : toWireRunKind(word)).toBe(number);
  }
});

test("a number that the contract does not know has no name", () => {
  expect(fromWireRunStatus(0)).toBeUndefined();
  expect(nameOf(99)).toBeUndefined();
  expect(fromWireRunKind(-1)).toBeUndefined();
});

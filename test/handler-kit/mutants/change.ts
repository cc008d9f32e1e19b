// What mutants are made of: a fault with the case that must notice it, and changes of single items.

import { create } from "@bufbuild/protobuf";
import {
  type HostItem,
  HostItemSchema,
  type ProcessItem,
  ProcessItemSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { Mutant } from "../host-stream.ts";

/** A fault, and the case that must notice it. */
export interface Fault<M = Mutant> {
  readonly name: string;
  readonly rule: string;
  /** The whole name of the case. */
  readonly caught: string;
  /** What that case must miss. */
  readonly missed: RegExp;
  readonly mutant: () => M;
}

/** Changes each item of the process; an item without a kind takes the place of one that is withheld. */
export const ofProcess =
  (change: (item: ProcessItem["item"]) => ProcessItem["item"]) => (): Mutant => ({
    fromProcess: (message) => {
      message.items = message.items.map(({ item }) => createItem(change(item)));
      return message;
    },
  });

/** Changes each item of the host before the process sees it. */
export const ofHost = (change: (item: HostItem["item"]) => HostItem["item"]) => (): Mutant => ({
  toProcess: (message) => {
    message.items = message.items.map(({ item }) => {
      const changed = change(item);
      return create(HostItemSchema, changed.case === undefined ? {} : { item: changed });
    });
    return message;
  },
});

export const createItem = (item: ProcessItem["item"]): ProcessItem =>
  create(ProcessItemSchema, item.case === undefined ? {} : { item });

/** The place of an item that is withheld. */
export const NOTHING = { case: undefined } as const;

/** Changes a limit of every Welcome. */
export const withLimits = (limits: Readonly<Record<string, bigint>>) => (): Mutant => ({
  toProcess: (message) => {
    if (message.opening.case === "welcome" && message.opening.value.limits !== undefined)
      Object.assign(message.opening.value.limits, limits);
    return message;
  },
});

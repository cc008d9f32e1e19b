// Programs that break one rule each, to prove that the kit notices. A mutant stands between a good program and the kit: it changes messages in
// such a way that the two together behave like a program with that fault. So mutants need no hooks in an SDK and fit every language.

import { create } from "@bufbuild/protobuf";
import {
  EffectState,
  EndedSchema,
  type HostItem,
  HostItemSchema,
  type ProcessItem,
  ProcessItemSchema,
  ResultSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { Mutant } from "./host-stream.ts";

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
const ofProcess = (change: (item: ProcessItem["item"]) => ProcessItem["item"]) => (): Mutant => ({
  fromProcess: (message) => {
    message.items = message.items.map(({ item }) => createItem(change(item)));
    return message;
  },
});

/** Changes each item of the host before the process sees it. */
const ofHost = (change: (item: HostItem["item"]) => HostItem["item"]) => (): Mutant => ({
  toProcess: (message) => {
    message.items = message.items.map(({ item }) => {
      const changed = change(item);
      return create(HostItemSchema, changed.case === undefined ? {} : { item: changed });
    });
    return message;
  },
});

const createItem = (item: ProcessItem["item"]): ProcessItem =>
  create(ProcessItemSchema, item.case === undefined ? {} : { item });

const NOTHING = { case: undefined } as const;

/** Changes a limit of every Welcome. */
const withLimits = (limits: Readonly<Record<string, bigint>>) => (): Mutant => ({
  toProcess: (message) => {
    if (message.opening.case === "welcome" && message.opening.value.limits !== undefined)
      Object.assign(message.opening.value.limits, limits);
    return message;
  },
});

/** Begins again where it should resume. */
const noResume = (): Mutant => {
  let hello: Parameters<NonNullable<Mutant["fromProcess"]>>[0] | undefined;
  return {
    fromProcess: (message) => {
      if (message.opening.case === "hello") hello = structuredClone(message);
      if (message.opening.case === "resume" && hello !== undefined) {
        message.opening = hello.opening;
        message.heardSeq = 0n;
      }
      return message;
    },
  };
};

/** Forgets what it sent on an earlier stream. */
const noResend = (): Mutant => {
  let sentSeq = 0;
  return {
    fromProcess: (message) => {
      const firstSeq = Number(message.firstSeq);
      const fresh = message.items.slice(Math.max(0, sentSeq + 1 - firstSeq));
      sentSeq = Math.max(sentSeq, firstSeq + message.items.length - 1);
      message.firstSeq = BigInt(sentSeq + 1 - fresh.length);
      message.items = fresh;
      return message;
    },
  };
};

/** Takes repeated items for new ones: the numbers that the process sees always fit. */
const noDrop = (): Mutant => {
  let seen = 0;
  let surplus = 0;
  return {
    toProcess: (message) => {
      if (message.items.length === 0) return message;
      surplus += Math.max(0, seen + 1 - Number(message.firstSeq) - surplus);
      message.items = message.items.map(({ item }) => {
        // A program that keys its invocations by id would drop the repeat by accident.
        if (item.case === "invoke" && surplus > 0)
          item.value.effectKey = `${item.value.effectKey}-${seen}`;
        return create(HostItemSchema, item.case === undefined ? {} : { item });
      });
      message.firstSeq = BigInt(seen + 1);
      seen += message.items.length;
      return message;
    },
    fromProcess: (message) => {
      message.heardSeq = BigInt(Math.max(0, Number(message.heardSeq) - surplus));
      return message;
    },
  };
};

/** Closes its eyes to a gap: it renumbers what comes. */
const acceptsGaps = (): Mutant => {
  let next = 1;
  return {
    toProcess: (message) => {
      if (message.items.length === 0) return message;
      message.firstSeq = BigInt(next);
      next += message.items.length;
      return message;
    },
  };
};

/** Sends Ended as soon as it has a Cancel, and not when the function returns. The numbers of its later items move by one. */
const freesSlotOnCancel = (): Mutant => {
  let cancelSeq = Infinity;
  let cancelled = "";
  let isEarly = false;
  return {
    toProcess: (message) => {
      for (const [index, { item }] of message.items.entries()) {
        if (item.case !== "cancel") continue;
        cancelSeq = Number(message.firstSeq) + index;
        cancelled = item.value.invocationId;
      }
      if (isEarly && message.heardSeq > 0n) message.heardSeq -= 1n;
      return message;
    },
    fromProcess: (message) => {
      if (isEarly) {
        if (message.items.length > 0) message.firstSeq += 1n;
        message.items = message.items.map(({ item }) =>
          createItem(item.case === "ended" ? NOTHING : item),
        );
      } else if (message.items.length === 0 && Number(message.heardSeq) >= cancelSeq) {
        isEarly = true;
        // The piece "started" is all that a stubborn function has sent.
        message.firstSeq = 2n;
        const value = create(EndedSchema, { invocationId: cancelled });
        message.items = [createItem({ case: "ended", value })];
      }
      return message;
    },
  };
};

export const FAULTS: readonly Fault[] = [
  {
    name: "it begins a new session after a cut",
    rule: "P2",
    caught: "the same session survives five cuts in a row",
    missed: /^resume of the session/,
    mutant: noResume,
  },
  {
    name: "it does not send again what the host has not confirmed",
    rule: "Q3",
    caught: "an unconfirmed Result is sent again with its old number",
    missed: /^the Result again/,
    mutant: noResend,
  },
  {
    name: "it runs a repeated Invoke again",
    rule: "Q6",
    caught: "a repeated Invoke runs once",
    missed: /^one Result/,
    mutant: noDrop,
  },
  {
    name: "it accepts a gap",
    rule: "Q6",
    caught: "a gap closes the stream, and the process resumes with what it has",
    missed: /^an end of the stream after a gap/,
    mutant: acceptsGaps,
  },
  {
    name: "it never says what it has",
    rule: "Q4",
    caught: "heard_seq comes within 100 ms without anything else to send",
    missed: /^heard_seq 2/,
    mutant: () => ({
      fromProcess: (message) => {
        message.heardSeq = 0n;
        return message;
      },
    }),
  },
  {
    name: "it does not answer Ping",
    rule: "P1",
    caught: "a leaving process answers Ping",
    missed: /^Pong/,
    mutant: ofProcess((item) => (item.case === "pong" ? NOTHING : item)),
  },
  {
    name: "it ignores Cancel",
    rule: "P7",
    caught: "a Cancel reaches the function at once, with the reason cancelled",
    missed: /^the note "cancelled/,
    mutant: ofHost((item) => (item.case === "cancel" ? NOTHING : item)),
  },
  {
    name: "it frees the slot of a cancelled function that still runs",
    rule: "P7",
    caught: "Ended of a function that ignores its signal waits for its return",
    missed: /^Ended after 400 ms/,
    mutant: freesSlotOnCancel,
  },
  {
    name: "it sends the late result of a cancelled function",
    rule: "P7",
    caught: "a Cancel reaches the function at once, with the reason timeout",
    missed: /^ended of/,
    mutant: ofProcess((item) =>
      item.case === "ended"
        ? { case: "result", value: create(ResultSchema, { invocationId: item.value.invocationId }) }
        : item,
    ),
  },
  {
    name: "it emits without regard to the window",
    rule: "P12",
    caught: "emit waits while window_bytes are under way, and Streamed frees them",
    missed: /^4 pieces with 0 passed on/,
    mutant: withLimits({ windowBytes: 1_000_000n }),
  },
  {
    name: "it sends an output that is too large",
    rule: "P11",
    caught: "an output above output_bytes is output_too_large with both sizes",
    missed: /^failure of/,
    mutant: withLimits({ outputBytes: 1_000_000n }),
  },
  {
    name: "it makes an effect although the host revoked it",
    rule: "P13",
    caught: "REVOKED: nothing is made, and the invocation ends as a cancelled one",
    missed: /^ended of/,
    mutant: ofHost((item) => {
      if (item.case === "effectBegun" && item.value.state === EffectState.REVOKED)
        item.value.state = EffectState.NEW;
      return item;
    }),
  },
  {
    name: "it makes an effect again that may happen at most once",
    rule: "P13",
    caught: "BEGUN_BEFORE: an effect that may happen at most once fails with effect_unknown",
    missed: /^failure of/,
    mutant: ofHost((item) => {
      if (item.case === "effectBegun" && item.value.state === EffectState.BEGUN_BEFORE)
        item.value.state = EffectState.NEW;
      return item;
    }),
  },
  {
    name: "it runs two deliveries of the same work at once",
    rule: "P8",
    caught: "the newer one waits until the older function has returned",
    missed: /^the newer one after 400 ms/,
    mutant: ofHost((item) => {
      if (item.case === "invoke") item.value.effectKey = item.value.invocationId;
      return item;
    }),
  },
  {
    name: "it leaves without a word",
    rule: "P16",
    caught: "SIGTERM sends Leaving, finishes what runs and exits 0 when the host closes the stream",
    missed: /^leaving of/,
    mutant: ofProcess((item) => (item.case === "leaving" ? NOTHING : item)),
  },
];

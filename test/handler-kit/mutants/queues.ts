// Faults of sessions and queues: openings, numbers, repeats and confirmations.

import { create } from "@bufbuild/protobuf";
import {
  HostItemSchema,
  type ProcessItem,
  type Welcome,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { Mutant } from "../host-stream.ts";
import { type Fault, NOTHING, ofProcess } from "./change.ts";

const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

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

/** Begins to work on a resumed stream before the host has answered: a message without Welcome gets the Welcome of before. */
const acceptsItemsBeforeWelcome = (): Mutant => {
  let welcome: Welcome | undefined;
  let isOpening = false;
  return {
    fromProcess: (message) => {
      isOpening = message.opening.case === "resume" || isOpening;
      return message;
    },
    toProcess: (message) => {
      const { opening } = message;
      if (opening.case === "welcome") welcome = structuredClone(opening.value);
      else if (opening.case === undefined && isOpening && welcome !== undefined)
        message.opening = { case: "welcome", value: { ...welcome, resumed: true } };
      isOpening = false;
      return message;
    },
  };
};

/** Sends its first item again with every resume, although the host has it. */
const resendsConfirmed = (): Mutant => {
  let first: ProcessItem | undefined;
  return {
    fromProcess: (message) => {
      first ??= message.items[0];
      if (message.opening.case === "resume" && first !== undefined) {
        message.firstSeq = 1n;
        message.items = [first];
      }
      return message;
    },
  };
};

/** Forgets the results that it has when it resumes. */
const losesResultsOfCut = (): Mutant => {
  let isResumed = false;
  const withhold = ofProcess((item) => (isResumed && item.case === "result" ? NOTHING : item))();
  return {
    fromProcess: (message) => {
      isResumed ||= message.opening.case === "resume";
      return withhold.fromProcess?.(message);
    },
  };
};

/** Faults of rules Q1 to Q8, and of the session's life. */
export const QUEUE_FAULTS: readonly Fault[] = [
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
    name: "it takes items before Welcome",
    rule: "Q1",
    caught: "items before Welcome end the stream, not the process",
    missed: /^an end of the stream without Welcome/,
    mutant: acceptsItemsBeforeWelcome,
  },
  {
    name: "its numbers leave a gap",
    rule: "Q2",
    caught: "pieces come in order, before the Result",
    missed: /^items from the number 1 on/,
    mutant: () => ({
      fromProcess: (message) => {
        if (message.items.length > 0) message.firstSeq += 1n;
        return message;
      },
    }),
  },
  {
    name: "it sends again what the host has confirmed",
    rule: "Q5",
    caught: "a confirmed Result is not sent again",
    missed: /^nothing again up to 1/,
    mutant: resendsConfirmed,
  },
  {
    name: "it does not count an item of an unknown kind",
    rule: "Q8",
    caught: "an item of an unknown kind counts and is ignored",
    missed: /^heard_seq 2/,
    mutant: () => ({
      fromProcess: (message) => {
        if (message.heardSeq > 0n) message.heardSeq -= 1n;
        return message;
      },
    }),
  },
  {
    name: "it stays with a silent host",
    rule: "P3",
    caught: "a silent host is left after silence_ms, and the session resumes",
    missed: /^an end of the stream of a silent host/,
    mutant: () => ({
      toProcess: (message) => {
        if (message.opening.case === "welcome") message.opening.value.silenceMs = 60_000n;
        return message;
      },
    }),
  },
  {
    name: "it tries again after a refusal of its first Hello",
    rule: "P4",
    caught: "a refusal before the first Welcome ends the program with an error",
    missed: /^an exit of the program/,
    mutant: () => ({ statusToProcess: (code) => (code === UNAUTHENTICATED ? UNAVAILABLE : code) }),
  },
  {
    name: "it loses results that were made while the connection was down",
    rule: "P5",
    caught: "a result that is made while the connection is down arrives after the resume",
    missed: /^result of/,
    mutant: losesResultsOfCut,
  },
  {
    name: "it takes no notice of Lost",
    rule: "P6",
    caught: "Lost begins another session and cancels every function with claim_lost",
    missed: /^the note "cancelled lost claim_lost"/,
    mutant: () => ({
      toProcess: (message) => (message.opening.case === "lost" ? undefined : message),
    }),
  },
];

// Faults of invocations: cancel, slots, input, limits, effects, failures and leaving.

import { create } from "@bufbuild/protobuf";
import {
  EffectCommitSchema,
  EffectState,
  EndedSchema,
  ResultSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { Mutant } from "../host-stream.ts";
import { SECRET, SLOTS } from "../kit.ts";
import { createItem, type Fault, NOTHING, ofHost, ofProcess, withLimits } from "./change.ts";

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

/**
 * Runs one function more than it has slots. The last function that fits does not wait: it sends the piece "started", and its Result is
 * withheld. So the process has a slot left when the host has given it all.
 */
const exceedsSlots = (): Mutant => {
  let waiting = 0;
  let extra = "";
  return {
    ...ofHost((item) => {
      if (item.case !== "invoke" || item.value.type !== "kit.wait@1") return item;
      waiting += 1;
      if (waiting !== SLOTS) return item;
      extra = item.value.invocationId;
      const inputJson = JSON.stringify({ pieces: ["started"] });
      return { case: "invoke", value: { ...item.value, type: "kit.stream@1", inputJson } };
    })(),
    ...ofProcess((item) =>
      item.case === "result" && item.value.invocationId === extra ? NOTHING : item,
    )(),
  };
};

/** Sends EffectCommit behind the Result. The process believes that the effect was committed, so it sends the Result alone. */
const commitsAfterResult = (): Mutant => {
  let effect: { readonly invocationId: string; readonly name: string } | undefined;
  return {
    ...ofHost((item) => {
      if (item.case !== "effectBegun" || item.value.state !== EffectState.NEW) return item;
      effect = item.value;
      const resultJson = JSON.stringify({ made: item.value.name });
      return {
        case: "effectBegun",
        value: { ...item.value, state: EffectState.COMMITTED, resultJson },
      };
    })(),
    fromProcess: (message) => {
      if (effect !== undefined && message.items.at(-1)?.item.case === "result") {
        const value = create(EffectCommitSchema, effect);
        message.items.push(createItem({ case: "effectCommit", value }));
      }
      return message;
    },
  };
};

/** Faults of rules P1 and P7 to P16. */
export const INVOCATION_FAULTS: readonly Fault[] = [
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
  {
    name: "it runs more functions than it has slots",
    rule: "P9",
    caught: "an Invoke above the slots waits until a function has returned",
    missed: /^no Result while every slot is taken/,
    mutant: exceedsSlots,
  },
  {
    name: "it runs a function with an input that does not fit",
    rule: "P10",
    caught: "input that does not fit its schema is input_invalid",
    missed: /^failure of/,
    mutant: ofHost((item) => {
      if (item.case === "invoke") item.value.inputJson = '{"text":"a","count":1}';
      return item;
    }),
  },
  {
    name: "it sends EffectCommit after the Result",
    rule: "P14",
    caught: "EffectCommit comes before the Result",
    missed: /^EffectCommit, then Result/,
    mutant: commitsAfterResult,
  },
  {
    name: "it forgets its actions",
    rule: "P19",
    caught: "remember is the action updateMemory of the Result",
    missed: /updateMemory/,
    mutant: ofProcess((item) => {
      if (item.case === "result") item.value.actions = [];
      return item;
    }),
  },
  {
    name: "it does not give the memory to the function",
    rule: "P20",
    caught: "the function reads the memory of its Invoke",
    missed: /draft/,
    mutant: ofHost((item) => {
      if (item.case === "invoke") item.value.memoryJson = "";
      return item;
    }),
  },
  {
    name: "it forgets the labels that the function adds",
    rule: "P21",
    caught:
      "the function reads the labels of its Invoke, and the labels that it adds go with the Result",
    missed: /kit/,
    mutant: ofProcess((item) => {
      if (item.case === "result") item.value.taint = [];
      return item;
    }),
  },
  {
    name: "it reports a limit of the function as any other error",
    rule: "P15",
    caught:
      "a limit of the function's own is user_timeout, which is not the host's, and the policy may retry it",
    missed: /^user_timeout/,
    mutant: ofProcess((item) => {
      if (item.case === "failure" && item.value.cause === "user_timeout")
        item.value.cause = "provider_error";
      return item;
    }),
  },
  {
    name: "it hides the message of an error",
    rule: "P15",
    caught: "a throw is provider_error with the message, and the policy may retry it",
    missed: /^class and message/,
    mutant: ofProcess((item) => {
      if (item.case === "failure") item.value.message = "an error";
      return item;
    }),
  },
  {
    name: "it sends a value of its environment with a failure",
    rule: "P15",
    caught: "no failure holds the environment or the token",
    missed: /^no value of the environment/,
    mutant: ofProcess((item) => {
      if (item.case === "failure") item.value.detailsJson = JSON.stringify({ env: SECRET });
      return item;
    }),
  },
];

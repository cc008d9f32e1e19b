// Clients that break one behaviour of a watch each, to prove that the kit notices. As with handlers, a mutant stands between a good program
// and the kit: it changes commands, requests, events, refusals or printed lines.

import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { Fault } from "../mutants/change.ts";
import type { Printed, WatchMutant } from "./watch-stream.ts";

const FOR_EVER_MS = 1_000_000;
const UNAVAILABLE = 14;

/** Changes every delta before the client sees it. */
const ofDeltas = (change: (event: RunEvent) => void) => (): WatchMutant => ({
  events: (events) => {
    for (const event of events) if (event.fact.case === "nodeStreamDelta") change(event);
    return events;
  },
});

/** Delivers what comes twice. */
const deliversRepeats = (): WatchMutant => {
  const printed = new Map<number, Printed>();
  const repeats: Printed[] = [];
  return {
    events: (events) => {
      for (const { eventId } of events) {
        const before = printed.get(Number(eventId));
        if (before !== undefined) repeats.push(before);
      }
      return events;
    },
    printed: (line) => {
      printed.set(Number(line["event_id"]), line);
      return [...repeats.splice(0), line];
    },
  };
};

/** Closes its eyes to a gap: the client sees ids without one, and the kit sees its own ids. */
const acceptsGaps = (): WatchMutant => {
  const ids: bigint[] = [];
  return {
    events: (events) => {
      for (const event of events) {
        ids.push(event.eventId);
        event.eventId = BigInt(ids.length);
      }
      return events;
    },
    printed: (line) => {
      const id = ids[Number(line["event_id"]) - 1];
      return [id === undefined ? line : { ...line, event_id: Number(id) }];
    },
  };
};

/** Reports a stream that is over as the end of the run. */
const endsWithStream = (): WatchMutant => ({
  run: (run) => {
    run.status = RunStatus.COMPLETED;
    run.lastEventId = 0n;
    run.endTime = timestampFromMs(0);
    return run;
  },
});

/** Leaves before the terminal event, which resets the stream, and reports the event all the same. */
const resetsAfterTerminal = (): WatchMutant => {
  const terminal = { event_id: 6, type: "run.completed", node_id: "", iteration: 0 };
  return {
    command: (command) => ({ ...command, leave_after: terminal.event_id - 1 }),
    printed: (line) => (line["end"] === true ? [terminal, line] : [line]),
  };
};

export const WATCH_FAULTS: readonly Fault<WatchMutant>[] = [
  {
    name: "it begins from the start after a cut",
    rule: "W1",
    caught: "a watch that is cut resumes after the last event id",
    missed: /^a stream after event 3/,
    mutant: () => ({
      request: (request) => {
        request.afterEventId = 0n;
        return request;
      },
    }),
  },
  {
    name: "it comes back sooner than the gateway asks",
    rule: "W2",
    caught: "after STREAM_LIMIT the client comes back with its cursor, and not sooner than asked",
    missed: /^a pause of 700 ms/,
    mutant: () => ({ refusal: (refusal) => ({ ...refusal, retryMs: 0 }) }),
  },
  {
    name: "it delivers repeats",
    rule: "W4",
    caught: "events that repeat after a resume are dropped",
    missed: /^the event \{"event_id":5/,
    mutant: deliversRepeats,
  },
  {
    name: "it accepts a gap",
    rule: "W5",
    caught: "a gap closes the stream, and the client reopens it with its cursor",
    missed: /^a stream after event 1/,
    mutant: acceptsGaps,
  },
  {
    name: "it hides a gap that stays",
    rule: "W6",
    caught: "a gap that every stream shows again is EVENT_LOG_CORRUPTION",
    missed: /^an error with the reason EVENT_LOG_CORRUPTION/,
    mutant: acceptsGaps,
  },
  {
    name: "it waits for a silent peer for ever",
    rule: "W7",
    caught: "a silent peer is left, and heartbeats count",
    missed: /^a stream after event 2/,
    mutant: () => ({ command: (command) => ({ ...command, silence_ms: FOR_EVER_MS }) }),
  },
  {
    name: "it leaves a peer that sends heartbeats only",
    rule: "W7",
    caught: "a silent peer is left, and heartbeats count",
    missed: /^the event \{"event_id":2/,
    mutant: () => ({ events: (events) => events.filter(({ eventId }) => eventId !== 0n) }),
  },
  {
    name: "it keeps no mark of deltas",
    rule: "W8",
    caught: "a delta at or below the high-water mark of its node is dropped",
    missed: /^the event \{"event_id":7/,
    mutant: () => {
      let epoch = 0n;
      return ofDeltas((event) => {
        epoch += 1n;
        event.epoch = epoch;
      })();
    },
  },
  {
    name: "it has one mark for all nodes",
    rule: "W9",
    caught: "every node and every iteration has its own mark",
    missed: /^the event \{"event_id":4/,
    mutant: ofDeltas((event) => {
      event.nodeId = "a";
    }),
  },
  {
    name: "it has one mark for all iterations",
    rule: "W9",
    caught: "every node and every iteration has its own mark",
    missed: /^the event \{"event_id":5/,
    mutant: ofDeltas((event) => {
      event.iteration = 0;
    }),
  },
  {
    name: "it does not notice a missing delta",
    rule: "W12",
    caught: "a missing delta is a gap once; the second time the log itself has it",
    missed: /^a stream after event 3/,
    mutant: ofDeltas((event) => {
      if (event.fact.case === "nodeStreamDelta" && event.fact.value.deltaIndex > 0)
        event.fact.value.deltaIndex -= 1;
    }),
  },
  {
    name: "it waits for more after the terminal event",
    rule: "W13",
    caught: "a watch ends after the terminal event, though the stream stays open",
    missed: /^the end of the watch/,
    mutant: () => ({ printed: (line) => (line["end"] === true ? [] : [line]) }),
  },
  {
    name: "it takes a closed stream for the end of the run",
    rule: "W14",
    caught: "a stream that ends without the terminal event is reopened while the run lives",
    missed: /^a stream after event 4/,
    mutant: endsWithStream,
  },
  {
    name: "it tries again after an error that stays",
    rule: "W15",
    caught: "an error that no reconnect can mend is thrown with its reason",
    missed: /^an error with the reason RUN_NOT_FOUND/,
    mutant: () => ({ refusal: (refusal) => ({ ...refusal, code: UNAVAILABLE }) }),
  },
  {
    name: "it never gives up",
    rule: "W16",
    caught: "a watch without progress gives up with the last error",
    missed: /^an error with the reason STORE_UNAVAILABLE/,
    mutant: () => ({ command: (command) => ({ ...command, give_up_ms: FOR_EVER_MS }) }),
  },
  {
    name: "it stays on a stream that its caller left",
    rule: "W17",
    caught: "a caller that leaves closes the stream and does not touch the run",
    missed: /^the end of the watch/,
    mutant: () => ({ command: (command) => ({ ...command, leave_after: 0 }) }),
  },
  {
    name: "it resets the stream after the terminal event",
    rule: "W19",
    caught: "after the terminal event the client does not reset the stream",
    missed: /^a stream that is open for 500 ms/,
    mutant: resetsAfterTerminal,
  },
];

// Deltas that repeat, and deltas of other nodes, iterations and claims.

import type { Case, Group } from "../../case.ts";
import { COMPLETED, delta, logOf, nodeCompleted, nodeStarted, STARTED } from "../log.ts";
import type { WatchKit } from "../watch-kit.ts";
import type { EventInit } from "../watch-stream.ts";

const LATER = { epoch: 6n };

/** Sends a whole log on one stream; the client delivers it without the events with these ids. */
const dropping = (
  name: string,
  rule: string,
  log: readonly EventInit[],
  ...dropped: readonly bigint[]
): Case<WatchKit> => ({
  name,
  rule,
  run: async (kit) => {
    const watch = kit.watch();
    const stream = await watch.stream(0);
    stream.send(...log);
    await watch.delivers(log.filter(({ eventId = 0n }) => !dropped.includes(eventId)));
    await watch.end();
  },
});

export const DELTA: Group<WatchKit> = {
  name: "delta",
  cases: [
    dropping(
      "a delta at or below the high-water mark of its node is dropped",
      "W8",
      logOf(STARTED, nodeStarted(), delta(0), delta(1), delta(1), delta(0), delta(2), COMPLETED),
      5n,
      6n,
    ),
    dropping(
      "every node and every iteration has its own mark",
      "W9",
      logOf(
        STARTED,
        delta(0, { nodeId: "a" }),
        delta(1, { nodeId: "a" }),
        delta(0, { nodeId: "b" }),
        delta(0, { nodeId: "a", iteration: 1 }),
        delta(1, { nodeId: "b" }),
        delta(2, { nodeId: "a" }),
        COMPLETED,
      ),
    ),
    dropping(
      "the mark grows over the claims of a node, and a delta of an older claim is dropped",
      "W10",
      logOf(
        STARTED,
        nodeStarted(),
        delta(0),
        delta(1),
        nodeStarted(),
        delta(2, LATER),
        delta(3),
        delta(3, LATER),
        nodeCompleted(),
        COMPLETED,
      ),
      7n,
    ),
    dropping(
      "in a log of an older release each claim counts from 0",
      "W11",
      logOf(
        STARTED,
        nodeStarted(),
        delta(0),
        delta(1),
        nodeStarted(),
        delta(0, LATER),
        delta(1, LATER),
        COMPLETED,
      ),
    ),
  ],
};

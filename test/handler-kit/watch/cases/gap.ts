// Events and deltas that are missing.

import { must } from "../../broken-rule.ts";
import type { Group } from "../../case.ts";
import { COMPLETED, delta, LOG, logOf, nodeStarted, STARTED } from "../log.ts";
import type { WatchKit } from "../watch-kit.ts";

const WITH_HOLE = logOf(STARTED, nodeStarted(), delta(0), delta(2), delta(3), COMPLETED);

export const GAP: Group<WatchKit> = {
  name: "gap",
  cases: [
    {
      name: "a gap closes the stream, and the client reopens it with its cursor",
      rule: "W5",
      run: async (kit) => {
        const watch = kit.watch();
        const first = await watch.stream(0);
        first.send(...LOG.slice(0, 1), ...LOG.slice(2));
        await watch.delivers(LOG.slice(0, 1));
        const second = await watch.stream(1);
        await first.left("an end of the stream after a gap");
        second.send(...LOG.slice(1));
        await watch.delivers(LOG.slice(1));
        await watch.end();
      },
    },
    {
      name: "a gap that every stream shows again is EVENT_LOG_CORRUPTION",
      rule: "W6",
      run: async (kit) => {
        const watch = kit.watch({}, { play: (stream) => stream.send(...LOG.slice(1)) });
        await watch.error("EVENT_LOG_CORRUPTION");
        must(watch.streams.length > 1, "more than one try", watch.streams.length);
        const cursors = watch.streams.map(({ request }) => request.afterEventId);
        must(
          cursors.every((after) => after === 0n),
          "every stream after event 0",
          cursors,
        );
      },
    },
    {
      name: "a missing delta is a gap once; the second time the log itself has it",
      rule: "W12",
      run: async (kit) => {
        const watch = kit.watch();
        const first = await watch.stream(0);
        first.send(...WITH_HOLE);
        await watch.delivers(WITH_HOLE.slice(0, 3));
        const second = await watch.stream(3);
        await first.left("an end of the stream after a missing delta");
        second.send(...WITH_HOLE.slice(3));
        await watch.delivers(WITH_HOLE.slice(3));
        await watch.end();
      },
    },
    {
      name: "a watch that joins in the middle of a node misses no earlier delta",
      rule: "W12",
      run: async (kit) => {
        const watch = kit.watch({ after: 3 });
        const stream = await watch.stream(3);
        stream.send(...WITH_HOLE.slice(3));
        await watch.delivers(WITH_HOLE.slice(3));
        await watch.end();
      },
    },
  ],
};

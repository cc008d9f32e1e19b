// How a watch ends: with its run, with an error, with a peer that is silent, or because the caller leaves it.

import { setTimeout as wait } from "node:timers/promises";
import { must } from "../../broken-rule.ts";
import type { Group } from "../../case.ts";
import { LOG } from "../log.ts";
import { endedAt, type WatchKit } from "../watch-kit.ts";

const NOT_FOUND = 5;
const DATA_LOSS = 15;
const SILENCE_MS = 1_000;
/** A busy machine sends a heartbeat late, so this is far below the silence. Four heartbeats take longer than the silence. */
const HEARTBEAT_MS = 300;
const HEARTBEATS = 4;
const EARLY_MS = 5;
/** A client gives the server more time than this to end a stream. */
const END_MS = 500;

export const END: Group<WatchKit> = {
  name: "end",
  cases: [
    {
      name: "a watch ends after the terminal event, though the stream stays open",
      rule: "W13",
      run: async (kit) => {
        const watch = kit.watch();
        const stream = await watch.stream(0);
        stream.send(...LOG);
        await watch.delivers(LOG);
        await watch.end();
      },
    },
    {
      name: "after the terminal event the client does not reset the stream",
      rule: "W19",
      run: async (kit) => {
        const watch = kit.watch();
        const stream = await watch.stream(0);
        stream.send(...LOG);
        const sentAtMs = performance.now();
        await watch.delivers(LOG);
        await watch.end();
        // A second watch on the connection: a reset that was sent with the end has arrived before its stream.
        const second = kit.watch();
        (await second.stream(0)).send(...LOG);
        await second.delivers(LOG);
        await second.end();
        const openMs = (stream.closedAtMs.things[0] ?? Infinity) - sentAtMs;
        must(openMs >= END_MS, `a stream that is open for ${END_MS} ms`, `${openMs} ms`);
      },
    },
    {
      name: "a watch of a caller that has the terminal event ends at once",
      rule: "W13",
      run: async (kit) => {
        const watch = kit.watch({ after: 6 }, { run: endedAt(6n) });
        const stream = await watch.stream(6);
        stream.end();
        await watch.end();
      },
    },
    {
      name: "a run that ended later than the cursor is read to its terminal event",
      rule: "W14",
      run: async (kit) => {
        const watch = kit.watch({}, { run: endedAt(6n) });
        const first = await watch.stream(0);
        first.send(...LOG.slice(0, 4));
        first.end();
        await watch.delivers(LOG.slice(0, 4));
        const second = await watch.stream(4);
        second.send(...LOG.slice(4));
        await watch.delivers(LOG.slice(4));
        await watch.end();
      },
    },
    {
      name: "a silent peer is left, and heartbeats count",
      rule: "W7",
      run: async (kit) => {
        const watch = kit.watch({ silence_ms: SILENCE_MS });
        const first = await watch.stream(0);
        first.send(...LOG.slice(0, 1));
        await watch.delivers(LOG.slice(0, 1));
        for (let sent = 0; sent < HEARTBEATS; sent += 1) {
          await wait(HEARTBEAT_MS);
          first.heartbeat();
        }
        first.send(...LOG.slice(1, 2));
        const spokeAtMs = performance.now();
        await watch.delivers(LOG.slice(1, 2));
        const second = await watch.stream(2);
        const silentMs = second.openedAtMs - spokeAtMs;
        must(silentMs >= SILENCE_MS - EARLY_MS, `${SILENCE_MS} ms of silence`, `${silentMs} ms`);
        await first.left("an end of the silent stream");
        second.send(...LOG.slice(2));
        await watch.delivers(LOG.slice(2));
        await watch.end();
      },
    },
    {
      name: "an error that no reconnect can mend is thrown with its reason",
      rule: "W15",
      run: async (kit) => {
        const watch = kit.watch();
        const stream = await watch.stream(0);
        stream.refuse({ code: NOT_FOUND, reason: "RUN_NOT_FOUND" });
        await watch.error("RUN_NOT_FOUND");
      },
    },
    {
      name: "an error in the middle of a stream is thrown with its reason",
      rule: "W15",
      run: async (kit) => {
        const watch = kit.watch();
        const stream = await watch.stream(0);
        stream.send(...LOG.slice(0, 2));
        await watch.delivers(LOG.slice(0, 2));
        stream.refuse({ code: DATA_LOSS, reason: "EVENT_LOG_CORRUPTION" });
        await watch.error("EVENT_LOG_CORRUPTION");
      },
    },
    {
      name: "a caller that leaves closes the stream and does not touch the run",
      rule: "W17",
      run: async (kit) => {
        const watch = kit.watch({ leave_after: 2 });
        const stream = await watch.stream(0);
        stream.send(...LOG.slice(0, 4));
        await watch.delivers(LOG.slice(0, 2));
        await watch.end();
        await stream.left("an end of the stream that the caller left");
      },
    },
  ],
};

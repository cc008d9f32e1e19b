// A watch over many connections: cuts, repeats, refusals that pass, and streams that end too early.

import { must } from "../../broken-rule.ts";
import type { Group } from "../../case.ts";
import { LOG } from "../log.ts";
import type { WatchKit } from "../watch-kit.ts";
import type { Refusal } from "../watch-stream.ts";

const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;
const ASKED_MS = 700;
/** Timers of a language may fire this much early. */
const EARLY_MS = 5;
/** Half of the first steps of the pauses, which double from 200 ms; the other half is jitter. */
const PAUSES_MS = [100, 200, 400];

const LIMIT: Refusal = { code: RESOURCE_EXHAUSTED, reason: "STREAM_LIMIT", retryMs: ASKED_MS };
const DRAINING: Refusal = { code: UNAVAILABLE, reason: "DRAINING" };
const NO_STORE: Refusal = { code: UNAVAILABLE, reason: "STORE_UNAVAILABLE" };

export const RESUME: Group<WatchKit> = {
  name: "resume",
  cases: [
    {
      name: "a watch that is cut resumes after the last event id",
      rule: "W1",
      run: async (kit) => {
        const watch = kit.watch();
        const first = await watch.stream(0);
        first.send(...LOG.slice(0, 3));
        await watch.delivers(LOG.slice(0, 3));
        first.cut();
        const second = await watch.stream(3);
        second.send(...LOG.slice(3));
        await watch.delivers(LOG.slice(3));
        await watch.end();
      },
    },
    {
      name: "a watch begins after the event that the caller has",
      rule: "W1",
      run: async (kit) => {
        const watch = kit.watch({ after: 4 });
        const stream = await watch.stream(4);
        stream.send(...LOG.slice(4));
        await watch.delivers(LOG.slice(4));
        await watch.end();
      },
    },
    {
      name: "after STREAM_LIMIT the client comes back with its cursor, and not sooner than asked",
      rule: "W2",
      run: async (kit) => {
        const watch = kit.watch();
        const first = await watch.stream(0);
        first.send(...LOG.slice(0, 4));
        await watch.delivers(LOG.slice(0, 4));
        const refusedAtMs = first.refuse(LIMIT);
        const second = await watch.stream(4);
        const waitedMs = second.openedAtMs - refusedAtMs;
        must(waitedMs >= ASKED_MS - EARLY_MS, `a pause of ${ASKED_MS} ms`, `${waitedMs} ms`);
        second.send(...LOG.slice(4));
        await watch.delivers(LOG.slice(4));
        await watch.end();
      },
    },
    {
      name: "pauses grow while nothing new comes",
      rule: "W3",
      run: async (kit) => {
        const watch = kit.watch();
        let stream = await watch.stream(0);
        for (const pauseMs of PAUSES_MS) {
          const refusedAtMs = stream.refuse(DRAINING);
          stream = await watch.stream(0);
          const waitedMs = stream.openedAtMs - refusedAtMs;
          must(waitedMs >= pauseMs - EARLY_MS, `a pause of ${pauseMs} ms`, `${waitedMs} ms`);
        }
        stream.send(...LOG);
        await watch.delivers(LOG);
        await watch.end();
      },
    },
    {
      name: "events that repeat after a resume are dropped",
      rule: "W4",
      run: async (kit) => {
        const watch = kit.watch();
        const first = await watch.stream(0);
        first.send(...LOG.slice(0, 4));
        await watch.delivers(LOG.slice(0, 4));
        first.cut();
        const second = await watch.stream(4);
        second.send(...LOG);
        await watch.delivers(LOG.slice(4));
        await watch.end();
      },
    },
    {
      name: "a stream that ends without the terminal event is reopened while the run lives",
      rule: "W14",
      run: async (kit) => {
        const watch = kit.watch();
        const first = await watch.stream(0);
        first.send(...LOG.slice(0, 4));
        await watch.delivers(LOG.slice(0, 4));
        first.end();
        const second = await watch.stream(4);
        second.send(...LOG.slice(4));
        await watch.delivers(LOG.slice(4));
        await watch.end();
      },
    },
    {
      name: "a watch without progress gives up with the last error",
      rule: "W16",
      run: async (kit) => {
        const watch = kit.watch(
          { give_up_ms: 250 },
          { play: (stream) => void stream.refuse(NO_STORE) },
        );
        await watch.error(NO_STORE.reason);
        must(watch.streams.length > 1, "more than one try", watch.streams.length);
      },
    },
  ],
};

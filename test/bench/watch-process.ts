// A process full of watchers, with the published client. The bench sends it the runs to watch and asks how far it is. Each watcher keeps the
// last event id, whether every id before it came in order, and the delays of its events.

import { createPawlClient } from "@pawl/client";
import { timestampMs } from "@bufbuild/protobuf/wkt";

/** What the bench sends. */
export type WatchOrder =
  | { readonly kind: "watch"; readonly url: string; readonly runIds: readonly string[] }
  /** From now on the delays of events count, or do not count. */
  | { readonly kind: "measure"; readonly isOn: boolean }
  /** The gateway will be killed now. */
  | { readonly kind: "mark" };

/** What the process answers. */
export type WatchNews =
  /** Every watcher has an event. */
  | { readonly kind: "begun" }
  /** Every watcher that had not ended at the mark is connected again. */
  | { readonly kind: "whole" }
  | { readonly kind: "ended"; readonly watched: readonly Watched[]; readonly delaysMs: number[] };

export interface Watched {
  readonly runId: string;
  readonly lastEventId: number;
  readonly isInOrder: boolean;
  readonly hasEnded: boolean;
}

interface Watcher {
  readonly runId: string;
  lastEventId: number;
  isInOrder: boolean;
  hasEnded: boolean;
  connections: number;
  /** The connections before the mark. */
  marked: number;
}

let isMeasuring = false;
let isMarked = false;
let hasBegun = false;
const delaysMs: number[] = [];
const watchers: Watcher[] = [];

const say = (news: WatchNews): void => void process.send?.(news);

process.on("message", (order: WatchOrder) => {
  if (order.kind === "measure") {
    isMeasuring = order.isOn;
  } else if (order.kind === "mark") {
    isMarked = true;
    for (const watcher of watchers) watcher.marked = watcher.connections;
    look();
  } else {
    void watchAll(order.url, order.runIds);
  }
});

async function watchAll(url: string, runIds: readonly string[]): Promise<void> {
  const client = createPawlClient({ baseUrl: url });
  await Promise.all(
    runIds.map(async (runId) => {
      const watcher = newWatcher(runId);
      watchers.push(watcher);
      const onConnect = (): void => {
        watcher.connections += 1;
        look();
      };
      for await (const { eventId, time, type } of client.watch(runId, { onConnect })) {
        const id = Number(eventId);
        watcher.isInOrder &&= id === watcher.lastEventId + 1;
        if (isMeasuring && time !== undefined) delaysMs.push(Date.now() - timestampMs(time));
        watcher.lastEventId = id;
        watcher.hasEnded = type === "run.completed";
        if (!hasBegun || watcher.hasEnded) look();
      }
    }),
  );
  client.close();
  say({ kind: "ended", watched: watchers, delaysMs });
}

const newWatcher = (runId: string): Watcher => ({
  runId,
  lastEventId: 0,
  isInOrder: true,
  hasEnded: false,
  connections: 0,
  marked: 0,
});

/** Reports a state that all watchers have reached. */
function look(): void {
  if (!hasBegun && watchers.every(({ lastEventId }) => lastEventId > 0)) {
    hasBegun = true;
    say({ kind: "begun" });
  }
  const isBack = ({ hasEnded, connections, marked }: Watcher): boolean =>
    hasEnded || connections > marked;
  if (!isMarked || !watchers.every(isBack)) return;
  isMarked = false;
  say({ kind: "whole" });
}

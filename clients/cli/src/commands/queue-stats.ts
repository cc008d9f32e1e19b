// pawl queue stats: what schedulers counted, now and in the past.

import { plainQueueStats } from "@pawl/client";
import type { GetQueueStatsResponse } from "@pawl/proto/pawl/v1/queue_service_pb";
import type { Command } from "commander";
import { durationMs } from "../time-flags.ts";
import type { Verb } from "../grammar.ts";
import { startFrames } from "../render/live-screen.ts";
import { historyLines, statsLines } from "../render/queue-stats.ts";
import { canvasOf, print, printJson, printLines, type Session } from "../session.ts";

export function queueStatsVerb(queue: Command, verb: Verb): void {
  verb(
    queue,
    "stats",
    "Show slots of executors, waiting nodes, runs and connections over time",
    stats,
  )
    .option("--node-type <type>", "plot this node type; default all together")
    .option("--range <duration>", "how far back: 30m, 6h, 7d; default 1h")
    .option("--step <duration>", "the time between two points; default a sixtieth of the range")
    .option("--history", "print the points as rows, without plots")
    .option("--watch", "read again every 5 seconds until Ctrl-C");
}

interface Flags {
  readonly nodeType?: string;
  readonly range?: string;
  readonly step?: string;
  readonly history?: boolean;
  readonly watch?: boolean;
}

async function stats(session: Session, flags: Flags): Promise<void> {
  const { client, interrupted: signal, terminal, format } = session;
  const asked = {
    ...{ nodeType: flags.nodeType, signal },
    rangeMs: durationMs("--range", flags.range),
    stepMs: durationMs("--step", flags.step),
  };
  const linesOf = flags.history === true ? historyLines : statsLines;
  const draw = (answer: GetQueueStatsResponse) => linesOf(answer, canvasOf(session));
  if (flags.watch !== true) {
    const answer = await client.queues.stats(asked);
    print(session, plainQueueStats(answer), () => draw(answer));
    return;
  }
  let lines: readonly string[] = [];
  let stop: (() => void) | undefined;
  try {
    for await (const answer of client.queues.followStats(asked)) {
      if (format === "json") printJson(session, plainQueueStats(answer));
      else if (terminal.isTty) {
        lines = draw(answer).slice(0, terminal.height() - 1);
        stop ??= startFrames(
          (text) => terminal.write(text),
          () => lines,
        );
      } else printLines(session, draw(answer));
    }
  } finally {
    stop?.();
  }
}

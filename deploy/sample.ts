// The first thing a person sees: the examples are registered and one of them runs before their eyes.
import { readdirSync, readFileSync } from "node:fs";
import { eventLine } from "@pawl/cli/render/event-line";
import { LiveScreen } from "@pawl/cli/render/live-screen";
import { progressLines } from "@pawl/cli/render/progress";
import { applyEvent, createProgress, hasEnded } from "@pawl/cli/render/progress-model";
import type { Progress } from "@pawl/cli/render/progress-model";
import { createPawlClient } from "@pawl/client";
import type { PawlClient } from "@pawl/client";

const EXAMPLES = new URL("examples/", import.meta.url);
const FRAME_MS = 100;

/** The example that shows most at once. */
const SAMPLE = {
  workflowId: "order-review",
  input: {
    customer: "Ada Lovelace",
    lines: [
      { sku: "engine-oil", quantity: 12, unit_price: 15 },
      { sku: "brass-gear", quantity: 40, unit_price: 9.5 },
    ],
  },
};

/** A run that has ended. */
export type SampleRun = { readonly runId: string; readonly status: string };

/** Saves every example; one that is unchanged gets no new version. Returns their ids. */
export async function registerExamples(client: PawlClient): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const name of readdirSync(EXAMPLES).filter((file) => file.endsWith(".yaml"))) {
    const text = readFileSync(new URL(name, EXAMPLES), "utf8");
    const { workflow } = await client.workflows.apply(text, {
      workflowId: name.replace(".yaml", ""),
    });
    ids.push(workflow.workflowId);
  }
  return ids;
}

/** A client of the gateway at `url`. */
export const clientOf = (url: string): PawlClient => createPawlClient({ baseUrl: url });

/** Runs the sample with live progress: redrawn in place on a terminal, a line per event elsewhere. */
export async function runSample(client: PawlClient, signal: AbortSignal): Promise<SampleRun> {
  const { run } = await client.runs.start(SAMPLE.workflowId, { input: SAMPLE.input, signal });
  const { definition } = await client.runs.get(run.runId, { signal });
  const progress = createProgress({
    runId: run.runId,
    title: `${run.workflowId} v${run.workflowVersion}`,
    definition,
  });
  const isTerminal = process.stdout.isTTY;
  const show = isTerminal ? drawFrames(progress) : undefined;
  try {
    for await (const event of client.watch(run.runId, { signal })) {
      applyEvent(progress, event);
      // In a log file the pieces of a stream are noise: its end says it all.
      if (isTerminal || event.type === "node.stream.delta") continue;
      process.stdout.write(`  ${eventLine(event)}\n`);
    }
  } finally {
    show?.stop();
  }
  signal.throwIfAborted();
  return { runId: run.runId, status: progress.status };
}

function drawFrames(progress: Progress): { stop(): void } {
  const screen = new LiveScreen({ write: (text) => void process.stdout.write(text) });
  const draw = (): void => {
    const { columns, rows } = process.stdout;
    const lines = progressLines(progress, {
      width: columns,
      height: rows,
      hasColour: process.env["NO_COLOR"] === undefined,
      nowMs: Date.now(),
    });
    // The last line of a run under way tells a watcher how to leave; here Ctrl-C stops everything.
    screen.draw(hasEnded(progress) ? lines : lines.slice(0, -1));
  };
  const timer = setInterval(draw, FRAME_MS);
  return {
    stop() {
      clearInterval(timer);
      draw();
      screen.stop();
    },
  };
}

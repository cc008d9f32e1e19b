// The first thing a person sees: the examples are registered and one of them runs before their eyes.
import { eventLine } from "@pawl/cli/render/event-line";
import { LiveScreen } from "@pawl/cli/render/live-screen";
import { progressLines } from "@pawl/cli/render/progress";
import { applyEvent, createProgress, hasEnded } from "@pawl/cli/render/progress-model";
import type { Progress } from "@pawl/cli/render/progress-model";
import { safeText, wrapText } from "@pawl/cli/render/spans";
import { createPawlClient, jsonOf } from "@pawl/client";
import type { PawlClient } from "@pawl/client";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { readExample, readExamples } from "./examples.ts";
import { streamLines } from "./stream-lines.ts";

const FRAME_MS = 100;

/** The example that shows most at once: models beside each other, a join, text that streams. */
const SAMPLE = "research-and-summarise";

/** A run that has ended. */
export type SampleRun = {
  readonly runId: string;
  readonly status: string;
  /** What it wrote, in lines that fit any terminal; none when it failed. */
  readonly summary: readonly string[];
};

/** Saves every example; one that is unchanged gets no new version. Returns their ids. */
export async function registerExamples(client: PawlClient): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { workflowId, text } of readExamples()) {
    const { workflow } = await client.workflows.apply(text, { workflowId });
    ids.push(workflow.workflowId);
  }
  return ids;
}

/** A client of the gateway at `url`. */
export const clientOf = (url: string): PawlClient => createPawlClient({ baseUrl: url });

/** Runs the sample with live progress: redrawn in place on a terminal, a line per event elsewhere. */
export async function runSample(
  client: PawlClient,
  signal: AbortSignal,
  onStart: (runId: string) => void,
): Promise<SampleRun> {
  const { workflowId, sampleInput: input } = readExample(SAMPLE);
  const { run } = await client.runs.start(workflowId, { input, signal });
  onStart(run.runId);
  const { definition } = await client.runs.get(run.runId, { signal });
  const progress = createProgress({
    runId: run.runId,
    title: `${run.workflowId} v${run.workflowVersion}`,
    definition,
  });
  const isTerminal = process.stdout.isTTY;
  const tell = eventTeller();
  const show = isTerminal ? drawFrames(progress) : undefined;
  try {
    for await (const event of client.watch(run.runId, { signal })) {
      applyEvent(progress, event);
      if (isTerminal) continue;
      for (const line of tell(event)) process.stdout.write(`  ${line}\n`);
    }
  } finally {
    show?.stop();
  }
  signal.throwIfAborted();
  return {
    runId: run.runId,
    status: progress.view().status,
    summary: await summaryOf(client, run.runId),
  };
}

const SUMMARY_WIDTH = 76;

async function summaryOf(client: PawlClient, runId: string): Promise<readonly string[]> {
  const output = jsonOf((await client.runs.get(runId)).run.outputJson);
  const isRecord = typeof output === "object" && output !== null && "summary" in output;
  const summary = isRecord ? output["summary"] : undefined;
  return typeof summary === "string" ? wrapText(safeText(summary), SUMMARY_WIDTH) : [];
}

/** In a log file the pieces of a stream are noise: they are told by the line. */
function eventTeller(): (event: RunEvent) => readonly string[] {
  const lines = streamLines();
  return (event) =>
    event.fact.case === "nodeStreamDelta"
      ? lines.add(event.nodeId, event.fact.value.text)
      : [...lines.flush(event.nodeId), eventLine(event)];
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

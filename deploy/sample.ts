// The example workflows: one YAML file each, named after its workflow, with a sample input. `npm start` saves them and runs one with live
// progress. Every example also runs without an input.
import { readdirSync, readFileSync } from "node:fs";
import { createPawlClient, type Json, jsonOf, type PawlClient, sampleInputOf } from "@pawl/client";
import { readText } from "@pawl/core/definition/read-text";
import { eventLine } from "@pawl/cli/render/event-line";
import { startFrames } from "@pawl/cli/render/live-screen";
import { progressLines } from "@pawl/cli/render/progress";
import {
  applyEvent,
  createProgress,
  hasEnded,
  type Progress,
} from "@pawl/cli/render/progress-model";
import { safeText, wrapText } from "@pawl/cli/render/spans";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { streamLines } from "./stream-lines.ts";

const FOLDER = new URL("examples/", import.meta.url);

type Example = {
  readonly workflowId: string;
  readonly text: string;
  readonly sampleInput: Json;
};

/** Every example in the order of its name. @throws RangeError for an example without a sample input */
export function readExamples(): readonly Example[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  return files.toSorted().map((name) => {
    const text = readFileSync(new URL(name, FOLDER), "utf8");
    const read = readText(text);
    const sampleInput = read.ok ? sampleInputOf(read.value) : undefined;
    if (sampleInput === undefined) throw new RangeError(`the example ${name} has no sample input`);
    return { workflowId: name.replace(".yaml", ""), text, sampleInput };
  });
}

/** One example by its name. @throws RangeError when there is none */
export function readExample(workflowId: string): Example {
  const found = readExamples().find((example) => example.workflowId === workflowId);
  if (found === undefined) throw new RangeError(`there is no example ${workflowId}`);
  return found;
}

/** The example that shows the most: parallel models, a join, and streamed text. */
const SAMPLE = "research-and-summarise";

/** Saves every example. An unchanged example gets no new version. Returns their ids. */
export async function registerExamples(client: PawlClient): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { workflowId, text } of readExamples()) {
    const { workflow } = await client.workflows.apply(text, { workflowId });
    ids.push(workflow.workflowId);
  }
  return ids;
}

export const clientOf = (url: string): PawlClient => createPawlClient({ baseUrl: url });

/** Runs the sample with live progress: redrawn in place on a terminal, a line per event elsewhere. */
export async function runSample(
  client: PawlClient,
  signal: AbortSignal,
  onStart: (runId: string) => void,
) {
  const { workflowId, sampleInput: input } = readExample(SAMPLE);
  const { run } = await client.runs.start(workflowId, { input, signal });
  onStart(run.runId);
  const { definition } = await client.runs.get(run.runId, { signal });
  const progress = createProgress({
    title: `${run.workflowId} v${run.workflowVersion}`,
    definition,
  });
  const isTerminal = process.stdout.isTTY;
  const linesOf = eventPrinter();
  const stopFrames = isTerminal ? drawFrames(progress) : undefined;
  try {
    for await (const event of client.watch(run.runId, { signal })) {
      applyEvent(progress, event);
      if (isTerminal) continue;
      for (const line of linesOf(event)) process.stdout.write(`  ${line}\n`);
    }
  } finally {
    stopFrames?.();
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

/** A log file would fill with single deltas, so streamed text is printed line by line. */
function eventPrinter(): (event: RunEvent) => readonly string[] {
  const lines = streamLines();
  return (event) =>
    event.fact.case === "nodeStreamDelta"
      ? lines.add(event.nodeId, event.fact.value.text)
      : [...lines.flush(event.nodeId), eventLine(event)];
}

/** Draws the progress until the returned function is called. */
const drawFrames = (progress: Progress): (() => void) =>
  startFrames(
    (text) => void process.stdout.write(text),
    () => {
      const { columns: width, rows: height } = process.stdout;
      const hasColour = process.env["NO_COLOR"] === undefined;
      const lines = progressLines(progress, { width, height, hasColour, nowMs: Date.now() });
      // The last line of a live run tells a person that Ctrl-C detaches. Here Ctrl-C stops everything, so the line is left out.
      return hasEnded(progress) ? lines : lines.slice(0, -1);
    },
  );

// Properties of runs that repeat, over random programs. The oracle in test/loop-oracle.ts has no counters, no work lists and no log.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LoopOracle } from "../../test/loop-oracle.ts";
import {
  jumpOf,
  playProgram,
  programs,
  type Program,
  type Report,
} from "../../test/loop-program.ts";
import { nameOf, RUN, type ToyRun } from "../../test/toy-run.ts";
import { causeOf } from "../log/cause.ts";
import { checkLog } from "../log/check.ts";
import { contextJson } from "../log/context.ts";
import { isFinal, isSettled } from "../log/event.ts";
import { fold, runStatus } from "../log/fold.ts";
import { mayCause } from "../log/meaning.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../log/snapshot.ts";
import type { RunState } from "../log/state.ts";
import { executionIn, view } from "../log/view.ts";
import { nodeId } from "../name/ids.ts";
import { decide } from "./plan.ts";

fc.configureGlobal({ seed: 1 });

const seeds = fc.integer();

/** The state without the work lists, which the planner empties and a fresh fold fills again. */
const meaningOf = ({ frontier: _frontier, scopes: _scopes, graph: _graph, ...rest }: RunState) =>
  rest;

/** The state of the run in the words of the oracle. */
function wordsOf({ state, events }: ToyRun) {
  const last = events.at(-1);
  const failed = last?.type === "run.failed" ? last.payload : undefined;
  const isRepeated = failed?.cause === "max_iterations";
  const end =
    failed === undefined
      ? state.status
      : `failed: ${isRepeated ? failed.cause : failed.failedNodeId}`;
  return {
    end: isFinal(state.status) ? end : undefined,
    iterationCount: state.iterationCount,
    nodes: state.graph.nodes.map(({ index, definition: { id } }) => {
      const node = state.nodes[index];
      if (node === undefined) throw new Error(`no node ${id}`);
      const isOpen = node.status !== "pending" && !isSettled(node.status);
      const { round, base, handle, entry } = node;
      const status = isOpen ? "open" : node.status;
      const openItems = node.scope?.openCount ?? 0;
      const from = entry && [state.graph.nodes[entry.source]?.definition.id, entry.output];
      return { id, status, round, base, handle: handle?.replace("_", ""), openItems, from };
    }),
  };
}

const wordsOfOracle = ({ end, iterationCount, nodes }: LoopOracle) => ({
  end,
  iterationCount,
  nodes: [...nodes].map(([id, { status, round, base, handle, items = [], entry }]) => ({
    ...{ id, status, round, base },
    handle: handle === "(jumped)" ? "jumped" : handle,
    openItems: items.filter((item) => item === "open").length,
    from: entry && [entry.from, JSON.stringify(entry.output)],
  })),
});

test("programs with loop edges, gotos, handoffs, maps and joins equal an oracle after every result (S2.9, S2.10, X13)", () => {
  let repeats = 0;
  let exceeded = 0;
  fc.assert(
    fc.property(programs(8), seeds, (program, seed) => {
      const oracle = new LoopOracle(program);
      playProgram(program, seed, (run, reports) => {
        oracle.take(reports);
        const words = wordsOf(run);
        // The end of a run cancels what is open, which the oracle does not follow.
        if (words.end?.startsWith("failed: max") === true) expect(oracle.end).toBe(words.end);
        else expect(words).toEqual(wordsOfOracle(oracle));
        repeats += reports.length > 0 && run.state.iterationCount > 0 ? 1 : 0;
        exceeded += words.end === "failed: max_iterations" ? 1 : 0;
      });
    }),
    { numRuns: 1_500 },
  );
  // The programs are worth something: they repeat, and some repeat too often.
  expect(repeats).toBeGreaterThan(1_000);
  expect(exceeded).toBeGreaterThan(100);
});

/** What a report writes to the memory: by the write_key of its node, then by its action. */
function writesOf({ definition: { nodes } }: Program, { id, item, step, output }: Report) {
  const node = nodes.find((each) => each.id === id);
  const target = jumpOf(step);
  const isRefused = target !== undefined && !nodes.some((each) => each.id === target);
  if (node?.type !== "task" || item > 0 || step === "fail" || isRefused) return {};
  const { write_key: key } = node;
  return {
    ...(key !== undefined && step !== "error" && { [key]: output }),
    ...(step !== "ok" && { last: output }),
  };
}

test("a node that runs again writes the memory again: each key has its last write (S2.31)", () => {
  let rewritten = 0;
  fc.assert(
    fc.property(programs(6), seeds, (program, seed) => {
      const memory: Record<string, string> = {};
      playProgram(program, seed, ({ state }, reports) => {
        for (const report of reports) {
          const writes = writesOf(program, report);
          const round = state.nodes[state.graph.indexOf.get(nodeId(report.id)) ?? -1]?.round ?? 0;
          if (round > 0) rewritten += Object.keys(writes).filter((key) => key in memory).length;
          Object.assign(memory, writes);
        }
        const kept = [...state.memory].map(([key, { json }]) => [key, JSON.parse(json) as unknown]);
        expect(Object.fromEntries(kept)).toEqual(memory);
      });
    }),
    { numRuns: 500 },
  );
  expect(rewritten).toBeGreaterThan(200);
});

test("the log of a run that repeats is legal: it folds and restores to the same state, and planning again adds nothing (S3.2, S3.18)", () => {
  fc.assert(
    fc.property(programs(8), seeds, (program, seed) => {
      const { events } = playProgram(program, seed, (run) => {
        const again = fold(RUN, run.state.graph, run.events);
        expect(meaningOf(again)).toEqual(meaningOf(run.state));
        expect(decide(again, run.now)).toEqual([]);
        const kept = { format: SNAPSHOT_FORMAT, body: writeSnapshot(run.state) };
        const restored = readSnapshot(RUN, run.state.graph, kept);
        expect(restored && meaningOf(restored)).toEqual(meaningOf(run.state));
      });
      checkLog(events);
      const untold = events.filter((event) => {
        const cause = events[causeOf(event) - 1];
        if (cause === undefined) return event.seq > 1;
        return cause.seq >= event.seq || !mayCause(cause.type, event.type);
      });
      expect(untold).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("an iteration names one execution: it is queued and settles at most once, and iterations grow (S3.5, X13)", () => {
  fc.assert(
    fc.property(programs(8), seeds, (program, seed) => {
      const { events } = playProgram(program, seed, () => undefined);
      const ofNodes = events.filter(({ nodeId: id }) => id !== "");
      for (const own of Map.groupBy(ofNodes, nameOf).values()) {
        const count = (types: RegExp) => own.filter(({ type }) => types.test(type)).length;
        expect(count(/^node\.(completed|failed|cancelled|skipped)$/)).toBeLessThanOrEqual(1);
        expect(count(/^node\.(queued|invalidated)$/)).toBeLessThanOrEqual(2);
        expect(own.findIndex(({ type }) => type === "node.invalidated")).toBeOneOf([
          -1,
          own.length - 1,
        ]);
      }
    }),
    { numRuns: 300 },
  );
});

test("the view of a client has the state of the present round, and the earlier rounds as they ended", () => {
  fc.assert(
    fc.property(programs(6), seeds, (program, seed) => {
      playProgram(program, seed, ({ state, events }) => {
        const { nodes, status, hasFailures } = view(events);
        expect({ status, hasFailures }).toEqual({
          status: runStatus(state),
          hasFailures: state.hasFailures,
        });
        for (const { index, definition } of state.graph.nodes) {
          const node = state.nodes[index];
          const seen = nodes.get(definition.id);
          if (seen === undefined || node === undefined) continue;
          const { base: iteration, round, status: own, output } = node;
          expect(seen).toMatchObject({ iteration, item: 0, round, status: own });
          expect(seen.output).toBe(output);
          expect(seen.earlier.map((each) => each.round)).toEqual([...Array(round).keys()]);
          expect(seen.earlier.every((each) => isSettled(each.status))).toBe(true);
          for (const each of [seen, ...seen.earlier])
            expect(executionIn(view(events), `${definition.id}#${each.iteration}`)?.round).toBe(
              each.round,
            );
        }
      });
    }),
    { numRuns: 300 },
  );
});

test("the node that a jump leads to reads the output of the node that jumped", () => {
  fc.assert(
    fc.property(programs(8), seeds, (program, seed) => {
      playProgram(program, seed, ({ state }) => {
        for (const { index } of state.graph.nodes) {
          const { entry, status, base } = state.nodes[index] ?? {};
          if (entry === undefined || status !== "queued" || base === undefined) continue;
          const { nodes } = JSON.parse(contextJson(state, index, base)) as {
            nodes: Record<string, unknown>;
          };
          const from = state.graph.nodes[entry.source]?.definition.id ?? "";
          expect(JSON.stringify(nodes[from])).toBe(entry.output);
        }
      });
    }),
    { numRuns: 300 },
  );
});

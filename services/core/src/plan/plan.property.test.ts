// Properties of the planner over random DAGs with joins, handles, failures, retries and lost claims. The oracle in
// test/oracle.ts recomputes everything from the whole log.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decideInWords, inWords, play, scenarios } from "../../test/arbitrary-run.ts";
import { oracle } from "../../test/oracle.ts";
import { completed, nameOf, type ToyRun } from "../../test/toy-run.ts";
import { checkLog } from "../log/check.ts";
import { isFinal, isSettled, type RunEvent } from "../log/event.ts";
import { causeOf } from "../log/cause.ts";
import { mayCause } from "../log/meaning.ts";
import { executionAt } from "../log/execution.ts";
import { fold } from "../log/fold.ts";
import type { RunState } from "../log/state.ts";
import { decide } from "./plan.ts";

fc.configureGlobal({ seed: 1 });

const SMALL = 12;
const seeds = fc.integer();

/** The state without the work lists, which the planner empties and a fresh fold fills again. */
const meaningOf = ({ frontier: _frontier, scopes: _scopes, graph: _graph, ...rest }: RunState) =>
  rest;

const foldAgain = (run: ToyRun, events: readonly RunEvent[]): RunState =>
  fold(run.state.runId, run.state.graph, events);

/**
 * Facts only the planner makes: first queueings, skips, failures without a claim, cancels without a claim, ends of runs and of
 * scopes.
 */
const isPlanned = (event: RunEvent, before: RunState): boolean => {
  if (event.nodeId === "") return event.type !== "run.started";
  const index = before.graph.indexOf.get(event.nodeId) ?? -1;
  const status = executionAt(before, index, event.iteration)?.status ?? "pending";
  if (event.type === "node.queued") return status === "pending";
  // One that was held and rejected fails under its claim: a person decided it. One that lost its last delivery was running.
  if (event.type === "node.failed" || event.type === "node.completed")
    return event.epoch === 0 && (status === "pending" || status === "waiting");
  return event.type === "node.skipped" || (event.type === "node.cancelled" && event.epoch === 0);
};

test("the planner agrees with the oracle on every prefix of every log, with agents among maps and loops (S1.21, S2.36, S3.20, S3.21, X11)", () => {
  fc.assert(
    fc.property(scenarios(SMALL, { fatal: true }), seeds, (scenario, seed) => {
      const { run } = play(scenario, seed, ({ state, events }) => {
        expect(oracle(state.graph.definition, events)).toEqual([]);
      });
      for (let length = 1; length <= run.events.length; length++) {
        const prefix = run.events.slice(0, length);
        const state = foldAgain(run, prefix);
        const expected = oracle(state.graph.definition, prefix);
        const next = run.events[length];
        if (next !== undefined && isPlanned(next, state)) expect(expected).toContain(inWords(next));
        expect(decideInWords({ ...run, state })).toEqual(expected);
      }
    }),
    { numRuns: 400 },
  );
});

test("every run ends, within a bound of its nodes, attempts and deliveries", () => {
  fc.assert(
    fc.property(scenarios(SMALL, { fatal: true }), seeds, (scenario, seed) => {
      const { run, steps } = play(scenario, seed);
      expect(isFinal(run.state.status)).toBe(true);
      expect(run.state.nodes.every((node) => isSettled(node.status))).toBe(true);
      // Three attempts and three deliveries at most, a claim, a report and perhaps a decision each.
      const executions = run.state.nodes.reduce(
        (sum, { scope }) => sum + 1 + (scope?.items.length ?? 0),
        0,
      );
      expect(steps).toBeLessThanOrEqual(executions * 6 * 3);
      checkLog(run.events);
    }),
    { numRuns: 600 },
  );
});

test("folding any prefix again gives the state the run had there, and planning on it adds nothing (S3.2, S3.18)", () => {
  fc.assert(
    fc.property(scenarios(SMALL, { fatal: true }), seeds, (scenario, seed) => {
      play(scenario, seed, (run) => {
        const again = foldAgain(run, run.events);
        expect(meaningOf(again)).toEqual(meaningOf(run.state));
        expect(decide(again, run.now)).toEqual([]);
      });
    }),
    { numRuns: 300 },
  );
});

test("a repeated or stale result changes nothing, whenever it comes (S3.4, S3.37, S3.53)", () => {
  fc.assert(
    fc.property(scenarios(SMALL, { fatal: true }), seeds, (scenario, seed) => {
      play(scenario, seed, (run) => {
        const before = run.events.length;
        for (const event of run.events.filter(({ type }) => type === "node.started")) {
          const node = run.execution(nameOf(event));
          if (node.status === "running" && node.epoch === event.seq) continue;
          const arrival = run.report(nameOf(event), completed("again"), event.seq);
          expect(arrival.kind).not.toBe("accepted");
          if (node.reportedEpoch === event.seq) expect(arrival.kind).toBe("duplicate");
        }
        expect(run.events.length).toBe(before);
      });
    }),
    { numRuns: 200 },
  );
});

const orderly = scenarios(SMALL, { fatal: false, racy: false });

test("the order of arrivals does not change how anything ends (S3.17, S3.49)", () => {
  fc.assert(
    fc.property(orderly, seeds, seeds, (scenario, one, other) => {
      const endOf = (seed: number) => {
        const { state } = play(scenario, seed).run;
        const nodes = state.nodes.map(({ status, handle, output, attempt }) => ({
          status,
          handle,
          output,
          attempt,
        }));
        return { status: state.status, output: state.output, failures: state.hasFailures, nodes };
      };
      expect(endOf(other)).toEqual(endOf(one));
    }),
    { numRuns: 400 },
  );
});

test("a node is queued once per attempt and lost delivery, and settles once (S3.5, S3.21, S3.49)", () => {
  fc.assert(
    fc.property(scenarios(SMALL, { fatal: true }), seeds, (scenario, seed) => {
      const { run } = play(scenario, seed);
      const ofNodes = run.events.filter((event) => event.nodeId !== "");
      for (const own of Map.groupBy(ofNodes, nameOf).values()) {
        const of = (type: string) => own.filter((event) => event.type === type);
        const settled = own.filter(({ type }) =>
          /^node\.(completed|failed|timed_out|cancelled|skipped)$/.test(type),
        );
        expect(settled.length).toBe(1);
        const queued = of("node.queued").length;
        const again = of("node.retried").length + of("run.recovered").length;
        expect(queued).toBeLessThanOrEqual(1 + again);
        const epochs = of("node.started").map((event) => event.seq);
        expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 300 },
  );
});

test("renaming the nodes renames the log and changes nothing else", () => {
  fc.assert(
    fc.property(scenarios(SMALL, { fatal: true }), seeds, (scenario, seed) => {
      const rename = (id: string): string => `other-${id}`;
      const renameKeys = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
        Object.fromEntries(Object.entries(record).map(([id, value]) => [rename(id), value]));
      const renamed = {
        definition: {
          nodes: scenario.definition.nodes.map((node) => ({ ...node, id: rename(node.id) })),
          edges: scenario.definition.edges.map((edge) => ({
            ...edge,
            source: rename(edge.source),
            target: rename(edge.target),
          })),
        },
        scripts: renameKeys(scenario.scripts),
        scopes: renameKeys(scenario.scopes),
      };
      const shape = (run: ToyRun) =>
        run.events.map((event) => [
          event.type,
          event.nodeId.replace("other-", ""),
          event.attempt,
          event.epoch,
        ]);
      expect(shape(play(renamed, seed).run)).toEqual(shape(play(scenario, seed).run));
    }),
    { numRuns: 200 },
  );
});

test("graphs of hundreds of nodes end too, and agree with the oracle at the end (S3.52)", () => {
  fc.assert(
    fc.property(scenarios(300, { fatal: false }), seeds, (scenario, seed) => {
      const { run } = play(scenario, seed);
      expect(isFinal(run.state.status)).toBe(true);
      const beforeEnd = run.events.slice(0, -1);
      expect(oracle(run.state.graph.definition, beforeEnd)).toEqual([run.events.at(-1)?.type]);
    }),
    { numRuns: 12 },
  );
});

test("no more iterations of a map are under way than it allows, and each is queued in turn (S3.30)", () => {
  fc.assert(
    fc.property(scenarios(SMALL, { fatal: false }), seeds, (scenario, seed) => {
      play(scenario, seed, ({ state }) => {
        for (const { index, definition } of state.graph.nodes) {
          const items = state.nodes[index]?.scope?.items ?? [];
          const open = items.filter(({ status }) => !isSettled(status)).length;
          expect(open).toBe(state.nodes[index]?.scope?.openCount ?? 0);
          expect(open).toBeLessThanOrEqual(definition.scope?.parallelism ?? 0);
        }
      });
    }),
    { numRuns: 200 },
  );
});

test("every event names what caused it: one before it, of a kind that may (S1.48)", () => {
  fc.assert(
    fc.property(scenarios(SMALL, { fatal: true }), seeds, (scenario, seed) => {
      const { events } = play(scenario, seed).run;
      const untold = events.filter((event) => {
        const cause = events[causeOf(event) - 1];
        if (cause === undefined) return event.seq > 1;
        return cause.seq >= event.seq || !mayCause(cause.type, event.type);
      });
      expect(untold).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

// Random signals, deadlines, pauses and cancels, on nodes and items that wait for few names. Whatever the order, signals of a name are taken
// first in, first out, and the log alone gives the state.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { begin, checkPayload, expectFolded } from "../../test/signal-run.ts";
import { sketch, type ToyRun } from "../../test/toy-run.ts";
import { roundOf } from "../log/execution.ts";
import { onPause, onResume } from "./pause.ts";
import { onSignal, onSignalDue } from "./signal.ts";
import { onCancel } from "./stop.ts";

fc.configureGlobal({ seed: 1 });

const NAMES = ["a", "b"] as const;
const NOTE = { scope: "run", who: "", reason: "" } as const;

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ signal: fc.constantFrom(...NAMES), id: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ due: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.constant({ pause: true }) },
  { weight: 3, arbitrary: fc.constant({ resume: true }) },
  { weight: 2, arbitrary: fc.record({ work: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.constant({ cancel: true }) },
);
type Step = Readonly<Record<string, unknown>>;

const wait = (id: string, name: string) => ({
  ...{ id, type: "await_signal", error_handling: "fail_node", on_parent_failure: "skip" },
  config: { name, timeout_ms: 5 },
});

/** Waits that begin at once, behind each other, behind work, and as items of a map. */
const graph = () =>
  sketch(
    [
      ...["s", "x", wait("w1", "a"), wait("w2", "a"), wait("w3", "b"), wait("w4", "a")],
      {
        ...{ id: "m", type: "map", on_parent_failure: "skip" },
        config: {
          ...{ items: [1, 2, 3], parallelism: 2, on_item_failure: "continue" },
          body: { type: "await_signal", config: { name: "b", timeout_ms: 5 } },
        },
      },
    ],
    ["s>w1", "w1>w2", "s>x", "x>w3", "x>m", "w3>w4"],
  );

/** Every execution that waits, by its place. */
const waitsOf = (run: ToyRun) =>
  run.state.nodes.flatMap((node, nodeIndex) =>
    roundOf(node).flatMap(([iteration, { wait: open }]) =>
      open === undefined ? [] : [{ nodeIndex, iteration, name: open.name }],
    ),
  );

function take(run: ToyRun, drawn: Step): void {
  const { state, now } = run;
  const add = (result: { readonly kind: string; readonly facts?: readonly never[] }): void => {
    if (result.kind === "accepted") (result.facts ?? []).forEach(run.append);
  };
  if (typeof drawn["signal"] === "string") {
    const { signal: name, id } = drawn as { signal: string; id: number };
    const arrival = { name, payloadJson: `${id}`, requestId: `r${id}`, digest: name, now };
    add(onSignal(state, arrival, checkPayload) as never);
  }
  const open = waitsOf(run);
  const due = open[Number(drawn["due"] ?? Number.NaN) % open.length];
  if (due !== undefined) add(onSignalDue(state, { ...due, now }) as never);
  if (drawn["pause"] === true) add(onPause(state, NOTE) as never);
  if (drawn["resume"] === true) add(onResume(state, NOTE, now) as never);
  if (drawn["cancel"] === true)
    add(onCancel(state, { reason: "", requestId: "", now: 0 }) as never);
  if (drawn["work"] !== undefined && run.node("x").status === "queued" && state.pause === undefined)
    run.complete("x");
  run.plan();
}

/** The request ids of the signals of a name, in the order of the log. */
const arrived = (run: ToyRun, name: string) =>
  run.events.flatMap((event) =>
    event.type === "run.signalled" && event.payload.name === name ? [event.payload.requestId] : [],
  );

/** The same for the signals that executions took. */
const taken = (run: ToyRun) =>
  run.events.flatMap((event) =>
    event.type === "node.completed" && event.payload.signal !== undefined
      ? [event.payload.signal]
      : [],
  );

test("each signal is taken at most once and in order, no wait stands beside a signal that it could take, and the log is enough (S2.17, S2.29)", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const run = begin(graph());
      for (const drawn of steps) {
        run.now += 1;
        take(run, drawn);
        const open = waitsOf(run);
        expect([...run.state.waits.values()].reduce((sum, { size }) => sum + size, 0)).toBe(
          open.length,
        );
        for (const { name } of run.state.signals.values())
          expect(open.some((each) => each.name === name)).toBe(false);
      }
      const ended = taken(run);
      expect(new Set(ended).size).toBe(ended.length);
      for (const name of NAMES) {
        const all = arrived(run, name);
        const own = ended.filter((id) => all.includes(id));
        expect(own).toEqual(all.slice(0, own.length));
        const kept = [...run.state.signals].flatMap(([id, each]) =>
          each.name === name ? [id] : [],
        );
        expect([...own, ...kept]).toEqual(all);
      }
      expectFolded(run);
    }),
    { numRuns: 300 },
  );
});

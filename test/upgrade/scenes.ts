// The runs of the dump: where each is when the services of the old build are killed, and how the new build must end it. A run carries
// the name of its scene as input.

import { broken, type NodeText, script } from "../flow/graph.ts";
import {
  BY_NEW,
  BY_OLD,
  check,
  completed,
  HELD,
  LONG_MS,
  PAUSED,
  PHRASE,
  POISON,
  running,
  type Scene,
  TASK,
  task,
  TYPED,
  UNSERVED,
  working,
} from "./scene.ts";

/** Over before the services are killed. */
export const ENDED: readonly Scene[] = [
  {
    name: "finished",
    definition: working(script("return ctx.input.scene")),
    left: { status: "completed" },
    ends: completed("finished"),
  },
  {
    name: "failed",
    definition: working(broken()),
    left: { status: "failed" },
    ends: { status: "failed", nodes: { work: "failed" } },
  },
  {
    name: "cancelled",
    definition: working(HELD),
    left: { status: "cancelled" },
    ends: { status: "cancelled", nodes: { work: "cancelled" } },
  },
  {
    name: "poisoned",
    definition: working({ type: POISON }),
    left: { status: "failed" },
    ends: { status: "failed", nodes: { work: "failed" } },
  },
];

const retry = { attempts: 2, max_backoff_ms: LONG_MS, jitter: false };
const limited: NodeText = { concurrency: { key: "shop", limit: 1 } };
const rated: NodeText = { rate: { key: "shop", limit: 1, per_ms: LONG_MS } };

/** Left alive; a scheduler and executors are all they need. */
export const LIVE: readonly Scene[] = [
  {
    name: "leased",
    definition: working(HELD, ["start > check:yes > work > end", "check:else > never"], { check }),
    left: running({ check: "completed", work: "running" }),
    ends: { ...completed(BY_NEW), nodes: { never: "skipped" } },
  },
  {
    name: "charged",
    // The effect of the old build counts; the new build must not make it again.
    definition: working(task({ effect: true })),
    left: running({ work: "running" }),
    ends: completed(BY_OLD),
  },
  {
    name: "delayed",
    definition: working(script("return 1"), ["start > wait > work > end"], {
      wait: { type: "delay", config: { delay_ms: LONG_MS } },
    }),
    left: running({ wait: "completed", work: "queued" }),
    ends: completed(1),
  },
  {
    name: "backing-off",
    definition: working(task({ fail_first: true }, { retry: { ...retry, backoff_ms: LONG_MS } })),
    left: { ...running({ work: "queued" }), event: "node.retried" },
    ends: completed(BY_NEW),
  },
  {
    name: "unserved",
    definition: working({ type: UNSERVED }),
    left: running({ work: "queued" }),
    ends: completed(BY_NEW),
  },
  {
    name: "mapping",
    definition: working({
      type: "map",
      config: {
        items: [1, 2, 3, 4, 5],
        parallelism: 2,
        body: { type: TASK, config: { hold_from: 3 } },
      },
    }),
    left: running({ work: "waiting", "work#2": "completed", "work#3": "running" }),
    ends: completed([BY_OLD, BY_OLD, BY_NEW, BY_NEW, BY_NEW]),
  },
  {
    name: "looping",
    definition: working({
      type: "loop",
      config: { times: 3, body: { type: TASK, config: { hold_from: 2 } } },
    }),
    left: running({ work: "waiting", "work#1": "completed", "work#2": "running" }),
    ends: completed([BY_OLD, BY_NEW, BY_NEW]),
  },
  {
    name: "nesting",
    // The workflow of the scene "leased" is its child.
    definition: working({
      type: "subworkflow",
      config: { workflow_id: "leased", input: { scene: "nested" } },
    }),
    left: { status: "waiting", nodes: { work: "waiting" } },
    ends: completed({ result: BY_NEW }),
  },
  {
    name: "slot-holder",
    workflowId: "limited",
    definition: working({ ...HELD, ...limited }),
    left: running({ work: "running" }),
    ends: completed(BY_NEW),
  },
  {
    name: "slot-waiter",
    workflowId: "limited",
    definition: working({ ...HELD, ...limited }),
    left: running({ work: "queued" }),
    ends: completed(BY_NEW),
  },
  {
    name: "rate-taker",
    workflowId: "rated",
    definition: working(task({}, rated)),
    left: { status: "completed" },
    ends: completed(BY_OLD),
  },
  {
    name: "rate-waiter",
    workflowId: "rated",
    definition: working(task({}, rated)),
    left: running({ work: "queued" }),
    ends: completed(BY_NEW),
  },
];

/** The same, with a node type that the old build knows by its description. */
export const TYPED_SCENE: Scene = {
  name: "typed",
  definition: working({ type: TYPED, config: { hold_from: 0 } }),
  left: running({ work: "running" }),
  ends: completed(BY_NEW),
};

/** Left alive; each needs a person: an answer, a decision, a resume. */
export const WAITING = {
  approval: {
    name: "approval",
    definition: working({ type: "approval", config: { message: "Go?", assignees: ["finance"] } }),
    left: { status: "waiting", nodes: { work: "waiting" } },
    ends: { status: "completed" },
  },
  moderated: {
    name: "moderated",
    definition: working(
      script(`return "${PHRASE}"`, { moderation: "output", moderation_action: "hold" }),
    ),
    left: { status: "waiting", nodes: { work: "waiting" } },
    ends: completed(PHRASE),
  },
  paused: {
    name: "paused",
    definition: working(HELD, ["start > first > work > end"], { first: HELD }),
    left: { status: "paused", nodes: { first: "running" } },
    ends: completed(BY_NEW),
  },
  pausedWorkflow: {
    name: "paused-workflow",
    definition: working(script("return 1")),
    left: { status: "paused" },
    ends: completed(1),
  },
  pausedQueue: {
    name: "paused-queue",
    definition: working({ type: PAUSED }),
    left: running({ work: "queued" }),
    ends: completed(BY_NEW),
  },
} satisfies Readonly<Record<string, Scene>>;

/** Not runs of scenes: started by a schedule, by a command, and once by requests that the test repeats. */
export const PLAIN = working(script("return 1"));
export const SCHEDULED = "scheduled";
export const COMMANDED = "commanded";
export const REPEATED = {
  workflowId: "repeated",
  requestId: "0190b3a4-0000-4000-8000-00000000000a",
  input: { n: 1 },
  dedupeInputMs: 86_400_000,
};

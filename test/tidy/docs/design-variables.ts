// The variables of the first design, each with its counterpart here, the default that holds here, and the reason for a difference. A test
// compares the defaults with those of the services and of definitions.
import { code, table } from "./table.ts";

/** Where a default is here: in the schema of a service, in a definition, or fixed in the engine. */
type Place = "scheduler" | "executor" | "gateway" | "definition" | "engine";

/** A counterpart with its default. Times are in milliseconds. */
type Counterpart = {
  readonly name: string;
  readonly at: readonly Place[];
  readonly preset: string;
  readonly shown?: string;
};

type DesignVariable = {
  readonly name: string;
  /** The default of the first design. Times are in milliseconds. */
  readonly preset: string;
  readonly shown?: string;
  readonly ours: readonly Counterpart[];
  /** Why another default, or another place, is right here. Empty if both are the same. */
  readonly why: string;
};

export const DESIGN_VARIABLES: readonly DesignVariable[] = [
  {
    name: "N_JOBS_PER_WORKER",
    preset: "0",
    shown: "CPU cores",
    ours: [
      {
        name: "PAWL_SANDBOX_PROCESSES",
        at: ["executor"],
        preset: "0",
        shown: "`0`: one for each core",
      },
      { name: "PAWL_EXECUTOR_SLOTS", at: ["executor"], preset: "256" },
    ],
    why: "A job was a whole run with its code. Here code that needs a core runs in the sandbox processes, one for each core. A slot is one node, and nodes mostly wait for others.",
  },
  {
    name: "BG_JOB_INTERVAL",
    preset: "5000",
    shown: "5 s",
    ours: [{ name: "PAWL_POLL_MS", at: ["scheduler", "gateway"], preset: "5000" }],
    why: "",
  },
  {
    name: "BG_JOB_HEARTBEAT",
    preset: "10000",
    shown: "10 s",
    ours: [
      { name: "PAWL_RENEW_MS", at: ["scheduler"], preset: "10000" },
      { name: "PAWL_SWEEP_MS", at: ["scheduler"], preset: "20000", shown: "`20000`: twice, too" },
      { name: "PAWL_LEASE_MS", at: ["scheduler"], preset: "30000" },
    ],
    why: "The first heartbeat that came late lost the job. A lease outlives two renewals.",
  },
  {
    name: "BG_JOB_TIMEOUT_SECS",
    preset: "300000",
    shown: "300 s",
    ours: [
      { name: "timeout_ms", at: ["definition"], preset: "300000" },
      { name: "deadline_ms", at: ["definition"], preset: "3600000" },
    ],
    why: "The limit was for a whole run. Here it is for a node, and a run has an hour. Both are keys of a definition, because each scheduler must plan a run in the same way.",
  },
  {
    name: "BG_JOB_MAX_RETRIES",
    preset: "3",
    ours: [
      {
        name: "lost executors",
        at: ["engine"],
        preset: "3",
        shown: "`3`, fixed",
      },
      { name: "retry", at: ["definition"], preset: "1", shown: "`1` attempt, `standard` has 3" },
    ],
    why: "One number counted two things. A lost executor is no fault of the node, and gets three tries. A failed attempt may have effects, so a definition asks for its repetition.",
  },
  {
    name: "BG_JOB_ISOLATED_LOOPS",
    preset: "false",
    shown: "off",
    ours: [],
    why: "Always on: scripts run in sandbox processes, and handlers of your own in theirs. Code that blocks stops no other node.",
  },
  {
    name: "STATS_INTERVAL_SECS",
    preset: "60000",
    shown: "60 s",
    ours: [{ name: "PAWL_STATS_MS", at: ["scheduler", "gateway"], preset: "60000" }],
    why: "",
  },
  {
    name: "REDIS_MAX_CONNECTIONS",
    preset: "50",
    ours: [{ name: "PAWL_DB_POOL_SIZE", at: ["scheduler", "gateway"], preset: "5" }],
    why: "There is no Redis: PostgreSQL notifies, and polls find what is lost. A connection of PostgreSQL is a process, and few are needed, because a tick has one of its own.",
  },
  {
    name: "DATABASE_URI",
    preset: "required",
    shown: "required",
    ours: [
      {
        name: "DATABASE_URL",
        at: ["scheduler", "gateway"],
        preset: "required",
        shown: "required",
      },
    ],
    why: "",
  },
];

const placeText = ({ name, at }: Counterpart): string =>
  at.includes("engine") ? name : `${code(name)} of the ${at.join(" and ")}`;

/** The table of docs/reference/configuration.md. */
export function designVariableTable(): string {
  const rows = DESIGN_VARIABLES.map(({ name, preset, shown, ours, why }) => [
    code(name),
    shown ?? preset,
    ours.map(placeText).join("; ") || "none",
    ours.map((one) => one.shown ?? code(one.preset)).join("; "),
    why === "" ? "It does not." : why,
  ]);
  return table(["first design", "default", "here", "default here", "why it differs"], rows);
}

// The one table of allowed imports. A target is a path of ours, `node:*`, or `npm:<package>`.

/** A folder and the beginnings of the targets its files may import; itself is always among them. */
export type Room = {
  readonly folder: string;
  readonly may: readonly string[];
  /** Exceptions to `may`, each with its reason. */
  readonly never?: Readonly<Record<string, string>>;
  /** Of some folders, the only targets that its files may import. */
  readonly only?: readonly { readonly of: string; readonly may: RegExp; readonly why: string }[];
};

const PG = "the database is reached through platform";
const QUEUE = "the queue is reached through platform";
const BELOW = "the store is built on db, wake and queue, not the other way round";
const ONLY_READS = "a gateway only reads; the scheduler writes";
const SERVICE = ["services/core/src/", "services/platform/src/", "proto/gen/", "node:", "npm:"];

/** The most particular folder of a file decides. */
export const ROOMS: readonly Room[] = [
  { folder: "proto/gen/", may: ["npm:@bufbuild/protobuf"] },
  {
    folder: "services/core/src/",
    may: ["npm:zod", "npm:@marcbachmann/cel-js", "npm:canonicalize", "npm:yaml", "npm:re2js"],
  },
  {
    folder: "services/platform/src/",
    may: ["services/core/src/", "proto/gen/", "node:", "npm:"],
    never: {
      "npm:pg": "only db, store and wake talk to PostgreSQL",
      "npm:pg-boss": "only queue/boss*.ts knows the queue's library",
      "npm:@grpc/grpc-js": "only rpc knows the transport",
    },
  },
  ...(["db", "wake", "store"] as const).map((name) => ({
    folder: `services/platform/src/${name}/`,
    may: ["services/platform/src/", "services/core/src/", "proto/gen/", "node:", "npm:"],
    never: {
      "npm:pg-boss": QUEUE,
      "npm:@grpc/grpc-js": "only rpc knows the transport",
      ...(name === "store" ? {} : { "services/platform/src/store/": BELOW }),
      ...(name === "db" ? { "services/platform/src/queue/": BELOW } : {}),
    },
  })),
  ...["queue/", "queue/boss"].map((name) => ({
    folder: `services/platform/src/${name}`,
    may: ["services/platform/src/", "services/core/src/", "node:", "npm:"],
    never: {
      "services/platform/src/store/": BELOW,
      "npm:@grpc/grpc-js": "only rpc knows the transport",
      ...(name === "queue/" ? { "npm:pg": PG, "npm:pg-boss": "only queue/boss*.ts knows it" } : {}),
    },
  })),
  {
    folder: "services/platform/src/rpc/",
    may: ["services/platform/src/", "services/core/src/", "proto/gen/", "node:", "npm:"],
    never: { "npm:pg": PG, "npm:pg-boss": QUEUE },
  },
  {
    folder: "services/scheduler/src/",
    may: SERVICE,
    never: { "npm:pg": PG, "npm:pg-boss": QUEUE },
  },
  {
    folder: "services/executor/src/",
    may: SERVICE,
    never: {
      "npm:pg": PG,
      "npm:pg-boss": QUEUE,
      "services/platform/src/store/": "executors have no database",
    },
  },
  {
    folder: "services/gateway/src/",
    may: SERVICE,
    never: { "npm:pg": PG, "npm:pg-boss": QUEUE },
    only: [
      {
        of: "services/platform/src/store/",
        // The reads of a noun, and its types.
        may: /^services\/platform\/src\/store\/([a-z-]+)\/(reads|\1)$/,
        why: ONLY_READS,
      },
      {
        of: "services/platform/src/queue/",
        may: /^services\/platform\/src\/queue\/(command-reads|occurrences|boss-occurrences)$/,
        why: ONLY_READS,
      },
    ],
  },
  {
    folder: "clients/ts/src/",
    may: [
      // The module of the platform, so that a bundle for browsers has no code of Node.
      "#connection",
      "proto/gen/",
      "services/core/src/fault/cause",
      "services/core/src/fault/class",
      "services/core/src/log/",
      "services/core/src/name/",
      "services/core/src/policy/",
      "npm:@connectrpc/",
      "npm:@bufbuild/protobuf",
    ],
  },
  {
    folder: "clients/handler/src/",
    may: [
      "proto/gen/",
      "services/core/src/",
      "services/platform/src/rpc/",
      "services/executor/src/",
      "npm:",
      "node:",
    ],
  },
  {
    folder: "clients/ts/src/node/",
    may: ["clients/ts/src/", "proto/gen/", "npm:@connectrpc/", "npm:@bufbuild/protobuf", "node:"],
  },
  {
    folder: "clients/cli/src/",
    may: [
      "clients/ts/src/",
      "proto/gen/",
      "services/core/src/log/",
      "services/core/src/name/",
      "npm:",
      "node:",
    ],
    never: { "npm:pg": PG, "npm:pg-boss": QUEUE },
  },
  {
    folder: "clients/web/src/",
    may: [
      "clients/ts/src/",
      "proto/gen/",
      "services/core/src/fault/class",
      "services/core/src/log/",
      "services/core/src/definition/",
      "npm:",
    ],
  },
  { folder: "clients/web/", may: ["npm:", "node:"] },
  {
    folder: "deploy/",
    may: [
      "clients/",
      "services/core/src/",
      "services/platform/src/",
      // A replay plays the host, with its limits.
      "services/executor/src/host/limits",
      "proto/gen/",
      "node:",
      "npm:",
    ],
  },
  { folder: "vitest.config.ts", may: ["npm:"] },
];

/** The rooms of each part from the ground up: a room imports itself and the levels below it, and no other room of its level. */
export const LEVELS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "services/core/src/": [
    ["name", "fault"],
    ["data"],
    ["policy", "schema", "filter"],
    ["definition"],
    ["glue", "action"],
    ["log"],
    ["plan", "handler"],
    ["explain", "repair", "bulk", "archive"],
  ],
  "services/platform/src/": [
    ["egress"],
    ["config", "contract"],
    ["telemetry"],
    ["lifecycle"],
    ["objects"],
    ["db", "rpc"],
    ["lanes", "ends", "queue"],
    ["wake"],
    ["store"],
    ["values"],
    ["archive"],
    ["wire"],
  ],
  // Sessions, commands and duties make inputs; a tick decides about them and commits.
  "services/scheduler/src/": [
    ["inputs"],
    ["commit"],
    ["hand-off"],
    ["decide"],
    ["tick"],
    ["sessions"],
    ["commands"],
    ["duties"],
  ],
  "services/executor/src/": [
    ["checks", "egress", "sandbox", "sources"],
    ["llm"],
    ["handlers"],
    ["run"],
    ["work"],
    ["host"],
  ],
  "services/gateway/src/": [["request"], ["watch"], ["read", "http"], ["rpc"]],
};

/** Names that pure code may not use. */
export const IMPURE = [
  "Date",
  "Math.random",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "globalThis",
  "performance",
  "process",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
] as const;

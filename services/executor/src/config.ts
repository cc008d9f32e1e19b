// Parses the executor's environment once. Of the rest of the system it has only the address of the schedulers. Its credentials are those of
// the providers and databases that its nodes may call.

import {
  DEFAULT_PORTS,
  LOOPBACK,
  address,
  allowedHosts,
  count,
  environment,
  flag,
  listenHost,
  logLevel,
  milliseconds,
  port,
  privateEgress,
  sharedToken,
} from "@pawl/platform/config/settings";
import { document } from "@pawl/platform/config/document";
import { modelPrices } from "@pawl/platform/config/prices";
import { type ConfigRule, type DeepReadonly, type Env, parseEnv } from "@pawl/platform/config/env";
import { inlineBytes } from "@pawl/platform/config/values";
import { z } from "zod";
import { TIMES } from "./host/limits.ts";
import { providersSchema } from "./llm/providers.ts";
import { dataSourcesSchema } from "./sources/data-sources.ts";
import { ruleSetSchema } from "./checks/rule-set.ts";

const moderationUrl = z
  .url({ protocol: /^https?$/, error: "expected an http or https address" })
  .optional()
  .describe("service that moderates instead of rules: POST {text | value, phase, runId, nodeId}");

/** Addresses that only processes of this machine can reach. */
const LOOPBACK_HOST = /^(127\.[0-9.]+|localhost|::1)$/;

export const ConfigSchema = z.object({
  PAWL_ENV: environment(),
  PAWL_LOG_LEVEL: logLevel(),
  PAWL_SCHEDULER_ADDRESS: address(
    `${LOOPBACK}:${DEFAULT_PORTS.scheduler}`,
    "where schedulers serve executors",
  ),
  PAWL_EXECUTOR_ID: z.uuid("expected a UUID").optional().describe("identity; random unless set"),
  PAWL_EXECUTOR_TOKEN: sharedToken("the schedulers' token; allows built-in node types"),
  // Handlers mostly wait, so the default is far above the number of cores. Each slot costs a few kilobytes.
  PAWL_EXECUTOR_SLOTS: count({
    default: 256,
    min: 1,
    max: 10_000,
    describe: "attempts that run at once",
  }),
  ...inlineBytes(),
  PAWL_EXECUTOR_GRACE_MS: milliseconds({
    default: 30_000,
    min: 0,
    max: 3_600_000,
    describe: "how long attempts may go on once the executor is asked to stop",
  }),
  PAWL_SANDBOX_PROCESSES: count({
    default: 0,
    min: 0,
    max: 256,
    describe: "processes for user code; 0 for one per core",
  }),
  PAWL_ALLOW_WEAK_SANDBOX: flag(
    false,
    "whether production may run user code where the host denies the sandbox a layer",
  ),
  PAWL_ALLOW_PRIVATE_EGRESS: privateEgress(
    "private address ranges that http nodes and webhooks may call, on any port; for development",
  ),
  PAWL_DATA_SOURCES: document(
    dataSourcesSchema,
    'databases of dataQuery nodes by name, as JSON or the path of a JSON or YAML file: {"orders":{"url":"postgres://…","mode":"read_only"}}',
  ),
  PAWL_LLM_PROVIDERS: document(
    providersSchema,
    'model providers by name, as JSON or the path of a JSON or YAML file: {"main":{"kind":"openai","base_url":"https://…/v1","api_key":"…"}}',
  ),
  ...modelPrices(),
  PAWL_MODERATION_RULES: document(
    ruleSetSchema,
    'moderation rules, as JSON or the path of a JSON or YAML file: {"rules":[{"id":"…","literal":"…"}]}',
  ),
  PAWL_MODERATION_URL: moderationUrl,
  PAWL_MODERATION_TIMEOUT_MS: milliseconds({
    default: 5_000,
    min: 10,
    max: 60_000,
    describe: "how long one call of the moderation service may take",
  }),
  PAWL_MODERATION_WINDOW_CHARS: count({
    default: 256,
    min: 16,
    max: 16_384,
    describe: "how much streamed text the moderation service sees twice, and watchers see late",
  }),
  PAWL_HANDLER_HOST: listenHost("address to serve handler processes on"),
  PAWL_HANDLER_PORT: port(
    DEFAULT_PORTS.handlers,
    "port for handler processes; 0 takes a free one. If it is taken, this executor serves none",
  ),
  PAWL_HANDLER_TOKEN: sharedToken(
    "token that handler processes must send; needed if PAWL_HANDLER_HOST is not loopback",
  ),
  PAWL_HANDLER_SILENCE_MS: milliseconds({
    default: TIMES.silenceMs,
    min: 300,
    max: 3_600_000,
    describe: "how long a handler process may be silent before it gets no new work",
  }),
  PAWL_HANDLER_RESUME_MS: milliseconds({
    default: TIMES.resumeMs,
    min: 100,
    max: 3_600_000,
    describe: "how long a handler process keeps its work after its connection broke",
  }),
  PAWL_ALLOWED_HOSTS: allowedHosts(),
  PAWL_METRICS_HOST: listenHost("address to serve /metrics, /healthz and /readyz on"),
  PAWL_METRICS_PORT: port(DEFAULT_PORTS.executorMetrics, "port of /metrics; 0 takes a free one"),
});

const RULES: readonly ConfigRule<DeepReadonly<z.output<typeof ConfigSchema>>>[] = [
  {
    reads: ["PAWL_MODERATION_RULES", "PAWL_MODERATION_URL"],
    faults: ({ PAWL_MODERATION_RULES: rules, PAWL_MODERATION_URL: url }) =>
      rules === undefined || url === undefined
        ? []
        : [{ variable: "PAWL_MODERATION_URL", expected: "either rules or a service, not both" }],
  },
  {
    reads: ["PAWL_HANDLER_HOST", "PAWL_HANDLER_TOKEN"],
    faults: ({ PAWL_HANDLER_HOST: host, PAWL_HANDLER_TOKEN: token }) =>
      LOOPBACK_HOST.test(host) || token !== undefined
        ? []
        : [
            {
              variable: "PAWL_HANDLER_TOKEN",
              expected: `is required, because PAWL_HANDLER_HOST=${host} is not loopback`,
            },
          ],
  },
];

export type Config = ReturnType<typeof parseConfig>;

/** @throws ConfigFault that names every faulty variable */
export const parseConfig = (env: Env) => parseEnv(ConfigSchema, env, { rules: RULES });

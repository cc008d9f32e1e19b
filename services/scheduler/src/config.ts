// Parses the scheduler's environment once.

import { type ConfigRule, type DeepReadonly, type Env, parseEnv } from "@pawl/platform/config/env";
import {
  allowedHosts,
  count,
  databaseUrl,
  DEFAULT_DRAIN_MS,
  DEFAULT_PORTS,
  environment,
  flag,
  listenHost,
  logLevel,
  milliseconds,
  port,
  privateEgress,
  retention,
  sharedToken,
  statsInterval,
  schemas,
} from "@pawl/platform/config/settings";
import { archive, archiveRules } from "@pawl/platform/config/archive";
import { modelPrices } from "@pawl/platform/config/prices";
import { inlineBytes, valueStore, valueStoreRules } from "@pawl/platform/config/values";
import { z } from "zod";

const MINUTE_MS = 60_000;

export const ConfigSchema = z.object({
  DATABASE_URL: databaseUrl(),
  ...schemas(),
  PAWL_ENV: environment(),
  PAWL_LOG_LEVEL: logLevel(),
  PAWL_SCHEDULER_HOST: listenHost("address the scheduler listens on"),
  PAWL_SCHEDULER_PORT: port(DEFAULT_PORTS.scheduler, "port for gateways and executors"),
  PAWL_METRICS_HOST: listenHost("address of /metrics, /healthz and /readyz"),
  PAWL_METRICS_PORT: port(DEFAULT_PORTS.schedulerMetrics, "port of /metrics, /healthz and /readyz"),
  PAWL_ALLOWED_HOSTS: allowedHosts(),
  PAWL_REFLECTION: flag(true, "serve gRPC reflection"),
  ...modelPrices(),
  PAWL_EXECUTOR_TOKEN: sharedToken(
    "token that executors must present to serve built-in node types; needed in production",
  ),
  // Longer than a pause of garbage collection, and short enough for a person who waits.
  PAWL_LEASE_MS: milliseconds({
    default: 30_000,
    min: 500,
    max: 10 * MINUTE_MS,
    describe: "how long a claim lives without renewal",
  }),
  PAWL_RENEW_MS: milliseconds({
    default: 10_000,
    min: 100,
    max: 5 * MINUTE_MS,
    describe: "how often executors renew; a third of the lease",
  }),
  PAWL_GRACE_MS: milliseconds({
    default: 1_000,
    min: 0,
    max: MINUTE_MS,
    describe: "how long claims live on after their executor's stream broke",
  }),
  PAWL_SWEEP_MS: milliseconds({
    default: 20_000,
    min: 100,
    max: 10 * MINUTE_MS,
    describe: "how often lost claims and passed deadlines are looked for",
  }),
  // A lost notification delays a node by at most this time.
  PAWL_POLL_MS: milliseconds({
    default: 5_000,
    min: 50,
    max: MINUTE_MS,
    describe: "how often the scheduler polls the queues, notifications aside",
  }),
  PAWL_RETENTION: retention(
    "how long finished runs are kept, such as all=90d,failed=365d,checkout/all=7d,deltas=1d; empty keeps everything",
  ),
  PAWL_RETENTION_MS: milliseconds({
    default: 10 * MINUTE_MS,
    min: 100,
    max: 24 * 60 * MINUTE_MS,
    describe: "how often runs past their age are looked for",
  }),
  // Longer than a client takes to reach another gateway and read the end there.
  PAWL_TEMPORARY_GRACE_MS: milliseconds({
    default: MINUTE_MS,
    min: 100,
    max: 24 * 60 * MINUTE_MS,
    describe:
      "how long a temporary run stays after its end, and after the last call of its webhooks",
  }),
  ...archive(),
  PAWL_HAND_OFF: flag(
    true,
    "give ready nodes to executors with room, and complete glue nodes, without the queue; off sends every node through it",
  ),
  ...valueStore(),
  ...inlineBytes(),
  // Far longer than any commit waits for its store, and than an executor may repeat an outcome.
  PAWL_VALUES_GRACE_MS: milliseconds({
    default: 24 * 60 * MINUTE_MS,
    min: 2 * MINUTE_MS,
    max: 30 * 24 * 60 * MINUTE_MS,
    describe: "how long a stored value stays that no run refers to",
  }),
  PAWL_ALLOW_PRIVATE_EGRESS: privateEgress(
    "private address ranges that webhooks may name; executors have the same setting; for development",
  ),
  PAWL_WEBHOOK_RETRY_MS: milliseconds({
    default: 5_000,
    min: 10,
    max: 60 * MINUTE_MS,
    describe: "how long a webhook waits after its first failure; later waits grow",
  }),
  PAWL_WEBHOOK_RETRY_MAX_MS: milliseconds({
    default: 24 * 60 * MINUTE_MS,
    min: 10,
    max: 7 * 24 * 60 * MINUTE_MS,
    describe: "the longest wait of a webhook between two calls",
  }),
  ...statsInterval(),
  PAWL_STATS_KEPT_MS: milliseconds({
    default: 7 * 24 * 60 * MINUTE_MS,
    min: MINUTE_MS,
    max: 31 * 24 * 60 * MINUTE_MS,
    describe: "how long the history of these samples is kept",
  }),
  PAWL_DB_POOL_SIZE: count({ default: 5, min: 1, max: 100, describe: "connections for reads" }),
  PAWL_DRAIN_MS: milliseconds({
    default: DEFAULT_DRAIN_MS,
    min: 0,
    max: 10 * MINUTE_MS,
    describe: "how long a stop may take",
  }),
});

type Values = DeepReadonly<z.output<typeof ConfigSchema>>;

const RULES: readonly ConfigRule<Values>[] = [
  ...valueStoreRules,
  ...archiveRules,
  {
    reads: ["PAWL_LEASE_MS", "PAWL_RENEW_MS"],
    faults: ({ PAWL_LEASE_MS: leaseMs, PAWL_RENEW_MS: renewMs }) =>
      renewMs < leaseMs
        ? []
        : [
            {
              variable: "PAWL_RENEW_MS",
              expected: `expected less than PAWL_LEASE_MS=${leaseMs}, or each claim ends before its renewal`,
              value: String(renewMs),
            },
          ],
  },
  {
    reads: ["PAWL_WEBHOOK_RETRY_MS", "PAWL_WEBHOOK_RETRY_MAX_MS"],
    faults: ({ PAWL_WEBHOOK_RETRY_MS: firstMs, PAWL_WEBHOOK_RETRY_MAX_MS: maxMs }) =>
      firstMs <= maxMs
        ? []
        : [
            {
              variable: "PAWL_WEBHOOK_RETRY_MAX_MS",
              expected: `expected at least PAWL_WEBHOOK_RETRY_MS=${firstMs}`,
              value: String(maxMs),
            },
          ],
  },
  {
    reads: ["PAWL_ENV", "PAWL_EXECUTOR_TOKEN"],
    faults: ({ PAWL_ENV: environmentName, PAWL_EXECUTOR_TOKEN: token }) =>
      environmentName !== "production" || token !== undefined
        ? []
        : [
            {
              variable: "PAWL_EXECUTOR_TOKEN",
              expected:
                "production needs it: a long random text, the same for schedulers and for executors of built-in node types",
            },
          ],
  },
];

export type Config = ReturnType<typeof parseConfig>;

/** @throws ConfigFault naming every variable at fault */
export const parseConfig = (env: Env) => parseEnv(ConfigSchema, env, { rules: RULES });

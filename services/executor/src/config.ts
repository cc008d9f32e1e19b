// The executor's environment, parsed once. It holds no credentials: one scheduler address is all it knows of the system.

import {
  DEFAULT_PORTS,
  LOOPBACK,
  address,
  count,
  environment,
  listenHost,
  logLevel,
  milliseconds,
  port,
} from "@pawl/platform/config/settings";
import { parseEnv, type Env } from "@pawl/platform/config/env";
import { z } from "zod";
import { parseCidrs } from "./egress/address.ts";

const privateEgress = z
  .string()
  .default("")
  .refine((text) => parseCidrs(text) !== undefined, "expected ranges such as 127.0.0.0/8,::1/128")
  .describe("private address ranges that http nodes may call, on any port; for development");

/** Variables of the executor. */
export const EXECUTOR_ENV = z.object({
  PAWL_ENV: environment(),
  PAWL_LOG_LEVEL: logLevel(),
  PAWL_SCHEDULER_ADDRESS: address(
    `${LOOPBACK}:${DEFAULT_PORTS.scheduler}`,
    "where schedulers serve executors",
  ),
  PAWL_EXECUTOR_ID: z.uuid("expected a UUID").optional().describe("identity; random unless set"),
  // Handlers mostly wait, so many more than cores; each costs a few kilobytes.
  PAWL_EXECUTOR_SLOTS: count({
    default: 256,
    min: 1,
    max: 10_000,
    describe: "attempts that run at once",
  }),
  PAWL_EXECUTOR_GRACE_MS: milliseconds({
    default: 30_000,
    min: 0,
    max: 3_600_000,
    describe: "how long attempts may go on once the executor is asked to stop",
  }),
  // 0 stands for one per core.
  PAWL_SANDBOX_PROCESSES: count({
    default: 0,
    min: 0,
    max: 256,
    describe: "processes for user code; 0 for one per core",
  }),
  PAWL_ALLOW_PRIVATE_EGRESS: privateEgress,
  PAWL_METRICS_HOST: listenHost("address to serve /metrics, /healthz and /readyz on"),
  PAWL_METRICS_PORT: port(DEFAULT_PORTS.executorMetrics, "port of /metrics; 0 takes a free one"),
});

export type ExecutorConfig = ReturnType<typeof parseConfig>;

/** @throws ConfigFault naming every variable at fault */
export const parseConfig = (env: Env) => parseEnv(EXECUTOR_ENV, env);

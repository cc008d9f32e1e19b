// The scheduler's process: config → compose → serve → drain.

import { readConfig } from "@pawl/platform/config/command";
import { armProbes } from "@pawl/platform/lifecycle/probe";
import { runService } from "@pawl/platform/lifecycle/service";
import { createLogger } from "@pawl/platform/telemetry/log";
import { startTelemetry } from "@pawl/platform/telemetry/start";
import { startScheduler } from "./compose.ts";
import { ConfigSchema, parseConfig } from "./config.ts";

const reader = { schema: ConfigSchema, parse: parseConfig, also: armProbes };
const config = readConfig({ service: "scheduler", ...reader }, process);
const log = createLogger({ service: "scheduler", level: config.PAWL_LOG_LEVEL });
const telemetry = await startTelemetry({ serviceName: "pawl-scheduler", env: process.env });

await runService({
  name: "scheduler",
  log,
  drainMs: config.PAWL_DRAIN_MS,
  start: () => startScheduler(config, { log, telemetry }),
  flush: () => telemetry.shutdown(),
});

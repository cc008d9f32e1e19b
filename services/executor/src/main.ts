// The executor's process: config → compose → serve → drain.

import { readConfig } from "@pawl/platform/config/command";
import { armProbes } from "@pawl/platform/lifecycle/probe";
import { runService } from "@pawl/platform/lifecycle/service";
import { createLogger } from "@pawl/platform/telemetry/log";
import { startTelemetry } from "@pawl/platform/telemetry/start";
import { compose } from "./compose.ts";
import { ConfigSchema, parseConfig } from "./config.ts";

/** How long a drain may take beyond the grace period of the attempts: to abort, release and disconnect. */
const DRAIN_MARGIN_MS = 10_000;

const reader = { schema: ConfigSchema, parse: parseConfig, also: armProbes };
const config = readConfig({ service: "executor", ...reader }, process);
const log = createLogger({ service: "executor", level: config.PAWL_LOG_LEVEL });
const telemetry = await startTelemetry({ serviceName: "pawl-executor", env: process.env });

await runService({
  name: "executor",
  log,
  drainMs: config.PAWL_EXECUTOR_GRACE_MS + DRAIN_MARGIN_MS,
  start: () => compose(config, { log, telemetry }),
  flush: () => telemetry.shutdown(),
});

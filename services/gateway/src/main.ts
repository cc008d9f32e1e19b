// The gateway's process: config → compose → serve → drain.

import { readConfig } from "@pawl/platform/config/command";
import { armProbes } from "@pawl/platform/lifecycle/probe";
import { runService } from "@pawl/platform/lifecycle/service";
import { createLogger } from "@pawl/platform/telemetry/log";
import { startTelemetry } from "@pawl/platform/telemetry/start";
import { compose } from "./compose.ts";
import { ConfigSchema, parseConfig } from "./config.ts";

const reader = { schema: ConfigSchema, parse: parseConfig, also: armProbes };
const config = readConfig({ service: "gateway", ...reader }, process);
const log = createLogger({ service: "gateway", level: config.PAWL_LOG_LEVEL });
const telemetry = await startTelemetry({ serviceName: "pawl-gateway", env: process.env });

await runService({
  name: "gateway",
  log,
  drainMs: config.PAWL_DRAIN_MS,
  start: () => compose(config, { log, telemetry }),
  flush: () => telemetry.shutdown(),
});

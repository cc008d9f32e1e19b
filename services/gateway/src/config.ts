// Parses the gateway's environment once.

import { type Env, parseEnv } from "@pawl/platform/config/env";
import {
  address,
  count,
  databaseUrl,
  DEFAULT_DRAIN_MS,
  DEFAULT_PORTS,
  flag,
  list,
  listenHost,
  LOOPBACK,
  logLevel,
  milliseconds,
  port,
  schemas,
  statsInterval,
} from "@pawl/platform/config/settings";
import { archive, archiveRules } from "@pawl/platform/config/archive";
import { modelPrices } from "@pawl/platform/config/prices";
import { valueStore, valueStoreRules } from "@pawl/platform/config/values";
import { z } from "zod";
import { FANOUT_DEFAULTS } from "./watch/fanout.ts";

/** The gateway does not authenticate its callers, so only this machine may reach it. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

export const ConfigSchema = z.object({
  DATABASE_URL: databaseUrl(),
  ...schemas(),
  PAWL_GATEWAY_HOST: listenHost("loopback address to listen on").refine(
    (host) => LOOPBACK_HOSTS.has(host),
    "expected a loopback address: there is no authentication at the edge",
  ),
  PAWL_GATEWAY_PORT: port(
    DEFAULT_PORTS.gateway,
    "port of the API and the console; 0 takes a free one",
  ),
  PAWL_SCHEDULER_ADDRESS: address(
    `${LOOPBACK}:${DEFAULT_PORTS.scheduler}`,
    "schedulers to send commands to: host:port, several with commas",
  ),
  PAWL_ALLOWED_HOSTS: list("host names besides loopback under which the gateway may be called"),
  PAWL_ALLOWED_ORIGINS: list("origins besides its own whose pages may call the gateway"),
  ...valueStore(),
  ...archive(),
  ...modelPrices(),
  PAWL_DB_POOL_SIZE: count({ default: 5, min: 2, max: 50, describe: "connections for reads" }),
  PAWL_POLL_MS: milliseconds({
    default: 5_000,
    min: 100,
    max: 60_000,
    describe: "how often watched runs are polled while notifications arrive",
  }),
  ...statsInterval(),
  PAWL_SUBSCRIBERS_MAX: count({
    default: FANOUT_DEFAULTS.subscribersMax,
    min: 1,
    max: 100_000,
    describe: "streams of events served at once; more are refused with STREAM_LIMIT",
  }),
  PAWL_REFLECTION: flag(true, "whether server reflection is served"),
  PAWL_DRAIN_MS: milliseconds({
    default: DEFAULT_DRAIN_MS,
    min: 0,
    max: 600_000,
    describe: "how long a stop may take",
  }),
  PAWL_LOG_LEVEL: logLevel(),
});

export type Config = ReturnType<typeof parseConfig>;

/** @throws ConfigFault naming every variable at fault */
export const parseConfig = (env: Env) =>
  parseEnv(ConfigSchema, env, { rules: [...valueStoreRules, ...archiveRules] });

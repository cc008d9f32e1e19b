// The settings of a local start, from its arguments and its environment.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { StartFault } from "./leave-with.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

type Env = Readonly<Record<string, string | undefined>>;

export type Settings = {
  /** Stop after the sample run, with its outcome as exit code. */
  readonly once: boolean;
  /** Open a browser at the sample run. */
  readonly open: boolean;
  /** The folder of the database and the logs, kept between starts. */
  readonly dataDir: string;
  /** The user's own database. Undefined for the embedded one. */
  readonly databaseUrl: string | undefined;
  readonly gatewayPort: number;
  readonly schedulerPort: number;
  /** The port to which handler processes connect. */
  readonly handlerPort: number;
  /** The port of the executor's metrics. The scheduler's is the next one. 0 takes free ports. */
  readonly metricsPort: number;
  /** Variables of the user for the services. */
  readonly serviceEnv: Readonly<Record<string, string>>;
};

/** The default port of the command line. */
export const DEFAULT_GATEWAY_PORT = 7400;
const SCHEDULER_PORT = 7401;
const METRICS_PORT = 7402;
const HANDLER_PORT = 7404;

/** @throws StartFault with the wrong setting */
export function readSettings(args: readonly string[], env: Env): Settings {
  return {
    ...readFlags(args),
    dataDir: resolve(ROOT, env["PAWL_DATA_DIR"] ?? ".pawl"),
    databaseUrl: env["DATABASE_URL"] === "" ? undefined : env["DATABASE_URL"],
    gatewayPort: readPort(env, "PAWL_GATEWAY_PORT", DEFAULT_GATEWAY_PORT),
    schedulerPort: readPort(env, "PAWL_SCHEDULER_PORT", SCHEDULER_PORT),
    handlerPort: readPort(env, "PAWL_HANDLER_PORT", HANDLER_PORT),
    metricsPort: readPort(env, "PAWL_METRICS_PORT", METRICS_PORT, 0),
    serviceEnv: passedOn(env),
  };
}

function readFlags(args: readonly string[]): Pick<Settings, "once" | "open"> {
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({ args: [...args], options: { once: flag, open: flag } }).values;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartFault(why, "usage: npm start [-- --once --open]", { cause: error });
  }
}

function readPort(env: Env, name: string, preset: number, least = 1): number {
  const text = env[name];
  if (text === undefined || text === "") return preset;
  const port = Number(text);
  if (Number.isInteger(port) && port >= least && port < 65_536) return port;
  throw new StartFault(`${name}=${text} is not a port`, `give a number from ${least} to 65535`);
}

/** The user's variables for the services. Ports, database and folder come from this start. */
function passedOn(env: Env): Record<string, string> {
  const own = new Set(["PAWL_DATA_DIR", "PAWL_METRICS_PORT"]);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && /^(PAWL|OTEL)_/.test(name) && !own.has(name)) kept[name] = value;
  }
  return kept;
}

// What a local start is told by its arguments and environment.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { StartFault } from "./start-fault.ts";

/** The repository. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

type Env = Readonly<Record<string, string | undefined>>;

/** Everything a local start may be told. */
export type Settings = {
  /** Leave after the sample run, with its outcome as exit code. */
  readonly once: boolean;
  /** Open a browser at the sample run. */
  readonly open: boolean;
  /** State kept between starts: database, logs. */
  readonly dataDir: string;
  /** An own database; absent means the embedded one. */
  readonly databaseUrl: string | undefined;
  readonly gatewayPort: number;
  readonly schedulerPort: number;
  /** Of the executor; the scheduler's is the next one. 0 takes free ones. */
  readonly metricsPort: number;
  /** What the services are told besides what this start decides. */
  readonly serviceEnv: Readonly<Record<string, string>>;
};

/** Where the command line looks when it is told nothing. */
export const DEFAULT_GATEWAY_PORT = 7400;
const SCHEDULER_PORT = 7401;
const METRICS_PORT = 7402;

/** @throws StartFault naming what is wrong */
export function readSettings(args: readonly string[], env: Env): Settings {
  return {
    ...readFlags(args),
    dataDir: resolve(ROOT, env["PAWL_DATA_DIR"] ?? ".pawl"),
    databaseUrl: env["DATABASE_URL"] === "" ? undefined : env["DATABASE_URL"],
    gatewayPort: readPort(env, "PAWL_GATEWAY_PORT", DEFAULT_GATEWAY_PORT),
    schedulerPort: readPort(env, "PAWL_SCHEDULER_PORT", SCHEDULER_PORT),
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

/** Ports, database and folder are decided here; everything else a person set reaches the services. */
function passedOn(env: Env): Record<string, string> {
  const own = new Set(["PAWL_DATA_DIR", "PAWL_METRICS_PORT"]);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && /^(PAWL|OTEL)_/.test(name) && !own.has(name)) kept[name] = value;
  }
  return kept;
}

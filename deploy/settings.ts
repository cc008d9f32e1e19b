// The settings of a local start, from its arguments and its environment.
import { statSync } from "node:fs";
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

/** @throws StartFault with every wrong setting */
export function readSettings(args: readonly string[], env: Env): Settings {
  const flags = readFlags(args);
  const faults = faultsOfSettings(env);
  if (faults.length > 0) {
    const lines = faults.map(({ variable }) => `${variable}=${env[variable]} cannot be used`);
    const advice = faults.map(({ variable, expected }) => `${variable}: ${expected}`);
    throw new StartFault(lines.join("\n"), advice.join("\n"));
  }
  return {
    ...flags,
    dataDir: dataDirOf(env),
    databaseUrl: env["DATABASE_URL"] === "" ? undefined : env["DATABASE_URL"],
    gatewayPort: portOf(env, "PAWL_GATEWAY_PORT"),
    schedulerPort: portOf(env, "PAWL_SCHEDULER_PORT"),
    handlerPort: portOf(env, "PAWL_HANDLER_PORT"),
    metricsPort: portOf(env, "PAWL_METRICS_PORT"),
    serviceEnv: passedOn(env),
  };
}

type SettingFault = { readonly variable: string; readonly expected: string };

/** Every wrong variable of the start itself. The services find the faults of theirs. */
export function faultsOfSettings(env: Env): readonly SettingFault[] {
  const ports = PORT_NAMES.filter((name) => !isPort(env[name] ?? "", PORTS[name].least));
  const faults: SettingFault[] = ports.map((variable) => ({
    variable,
    expected: `expected a port from ${PORTS[variable].least} to 65535`,
  }));
  const dataDir = statSync(dataDirOf(env), { throwIfNoEntry: false });
  if (dataDir?.isDirectory() === false)
    faults.push({ variable: "PAWL_DATA_DIR", expected: "expected a folder, but this is a file" });
  return faults;
}

const dataDirOf = (env: Env): string => {
  const { PAWL_DATA_DIR: named = "" } = env;
  return resolve(ROOT, named === "" ? ".pawl" : named);
};

/** The ports of a start. Other processes learn them from the configuration, so only metrics may take a free one. */
const PORTS = {
  PAWL_GATEWAY_PORT: { preset: DEFAULT_GATEWAY_PORT, least: 1 },
  PAWL_SCHEDULER_PORT: { preset: 7401, least: 1 },
  PAWL_HANDLER_PORT: { preset: 7404, least: 1 },
  PAWL_METRICS_PORT: { preset: 7402, least: 0 },
} as const;
type PortName = keyof typeof PORTS;
// The keys of the table above.
const PORT_NAMES = Object.keys(PORTS) as readonly PortName[];

/** The empty text stands for the default. */
const isPort = (text: string, least: number): boolean => {
  const port = Number(text);
  return text === "" || (Number.isInteger(port) && port >= least && port < 65_536);
};

const portOf = (env: Env, name: PortName): number => {
  const text = env[name] ?? "";
  return text === "" ? PORTS[name].preset : Number(text);
};

const USAGE = "usage: npm start [-- --once --open | --check-config | --print-config [--json]]";

function readFlags(args: readonly string[]): Pick<Settings, "once" | "open"> {
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({ args: [...args], options: { once: flag, open: flag } }).values;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartFault(why, USAGE, { cause: error });
  }
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

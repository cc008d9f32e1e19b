// The three services of a local start: their variables, and their supervision.
import { randomBytes } from "node:crypto";
import { demoEnv } from "./demo/demo-data.ts";
import { openLog } from "./logbook.ts";
import { freePort, isPortFree, LOOPBACK } from "./ports.ts";
import { type ServiceName, startService } from "./service-process.ts";
import type { Settings } from "./settings.ts";
import { StartFault } from "./leave-with.ts";
import { type Incident, Supervised } from "./supervise.ts";

export type Service = { readonly name: ServiceName; readonly supervised: Supervised };

type TrioOptions = {
  readonly settings: Settings;
  readonly databaseUrl: string;
  /** Variables of the executor, such as the databases of the examples. */
  readonly executorEnv: Readonly<Record<string, string>>;
  readonly logDir: string;
  /** Aborts the starts. */
  readonly stop: AbortSignal;
  readonly report: (name: ServiceName, incident: Incident) => void;
};

/** @throws StartFault if a port with a fixed number is in use */
export async function checkPorts(settings: Settings): Promise<void> {
  const { gatewayPort, schedulerPort, handlerPort } = settings;
  const needed = [
    { port: gatewayPort, what: "the console and API", name: "PAWL_GATEWAY_PORT" },
    { port: schedulerPort, what: "the scheduler", name: "PAWL_SCHEDULER_PORT" },
    { port: handlerPort, what: "handler processes", name: "PAWL_HANDLER_PORT" },
  ];
  for (const { port, what, name } of needed) {
    if (await isPortFree(port)) continue;
    const other = await freePort();
    throw new StartFault(
      `port ${port}, meant for ${what}, is taken by another program`,
      `choose another: ${name}=${other} npm start`,
    );
  }
}

/** The services in the order in which they start. None is started yet. */
export async function planTrio(options: TrioOptions): Promise<Record<ServiceName, Service>> {
  const { settings, databaseUrl } = options;
  const base = settings.metricsPort;
  const metricsPorts = {
    executor: await preferredPort(base),
    scheduler: await preferredPort(base === 0 ? 0 : base + 1),
  };
  // A new token for each start, known to these two services only, unless the user set one.
  const token = settings.serviceEnv["PAWL_EXECUTOR_TOKEN"] ?? randomBytes(24).toString("base64url");
  const { executorEnv } = options;
  const own = serviceVariables(settings, { databaseUrl, token, metricsPorts, executorEnv });
  const plan = (name: ServiceName): Service => {
    const { write: log } = openLog(options.logDir, name);
    const service = { service: name, env: { ...settings.serviceEnv, ...own[name] }, log };
    const supervised = new Supervised({
      start: (signal) => startService(service, AbortSignal.any([signal, options.stop])),
      report: (incident) => options.report(name, incident),
    });
    return { name, supervised };
  };
  return { scheduler: plan("scheduler"), executor: plan("executor"), gateway: plan("gateway") };
}

type Given = {
  readonly databaseUrl: string;
  readonly token: string;
  readonly metricsPorts: { readonly executor: number; readonly scheduler: number };
  readonly executorEnv: Readonly<Record<string, string>>;
};

/** The variables that a start gives to each service, whatever the user set. */
export function serviceVariables(
  settings: Settings,
  { databaseUrl, token, metricsPorts, executorEnv }: Given,
): Readonly<Record<ServiceName, Readonly<Record<string, string>>>> {
  const scheduler = `${LOOPBACK}:${settings.schedulerPort}`;
  return {
    scheduler: {
      DATABASE_URL: databaseUrl,
      PAWL_EXECUTOR_TOKEN: token,
      PAWL_SCHEDULER_PORT: String(settings.schedulerPort),
      PAWL_METRICS_PORT: String(metricsPorts.scheduler),
    },
    executor: {
      ...demoEnv({ ...executorEnv, ...settings.serviceEnv }),
      PAWL_SCHEDULER_ADDRESS: scheduler,
      PAWL_EXECUTOR_TOKEN: token,
      PAWL_METRICS_PORT: String(metricsPorts.executor),
      PAWL_HANDLER_PORT: String(settings.handlerPort),
    },
    gateway: {
      DATABASE_URL: databaseUrl,
      PAWL_SCHEDULER_ADDRESS: scheduler,
      PAWL_GATEWAY_PORT: String(settings.gatewayPort),
    },
  };
}

/** The metrics port may be any port. If it is in use, 0 lets the service choose. */
async function preferredPort(port: number): Promise<number> {
  return port === 0 || !(await isPortFree(port)) ? 0 : port;
}

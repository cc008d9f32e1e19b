// The three services of a local start: what each is told, and that each is kept alive.
import { randomBytes } from "node:crypto";
import { demoEnv } from "./demo/demo-env.ts";
import { openLog } from "./logbook.ts";
import type { LogFile } from "./logbook.ts";
import { freePort, isPortFree, LOOPBACK } from "./ports.ts";
import { startService } from "./service-process.ts";
import type { ServiceName } from "./service-process.ts";
import type { Settings } from "./settings.ts";
import { StartFault } from "./start-fault.ts";
import { Supervised } from "./supervise.ts";
import type { Incident } from "./supervise.ts";

/** A service under supervision. */
export type Service = { readonly name: ServiceName; readonly supervised: Supervised };

/** What the services of one start share. */
export type TrioOptions = {
  readonly settings: Settings;
  readonly databaseUrl: string;
  /** What the executor is told beside its settings, such as the databases that examples ask. */
  readonly executorEnv: Readonly<Record<string, string>>;
  readonly logDir: string;
  /** Aborts starts that are under way. */
  readonly stop: AbortSignal;
  readonly report: (name: ServiceName, incident: Incident) => void;
};

/** @throws StartFault when a port that others must know is taken */
export async function checkPorts({ gatewayPort, schedulerPort }: Settings): Promise<void> {
  const needed = [
    { port: gatewayPort, what: "the console and API", name: "PAWL_GATEWAY_PORT" },
    { port: schedulerPort, what: "the scheduler", name: "PAWL_SCHEDULER_PORT" },
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

/** The services in the order in which they start; none is started yet. */
export async function planTrio(options: TrioOptions): Promise<Record<ServiceName, Service>> {
  const { settings, databaseUrl } = options;
  const scheduler = `${LOOPBACK}:${settings.schedulerPort}`;
  const base = settings.metricsPort;
  const metrics = {
    executor: String(await preferredPort(base)),
    scheduler: String(await preferredPort(base === 0 ? 0 : base + 1)),
  };
  // Made anew at each start, and known to these two only; one that is set is in the environment of both.
  const token = settings.serviceEnv["PAWL_EXECUTOR_TOKEN"] ?? randomBytes(24).toString("base64url");
  const plan = (name: ServiceName, env: Record<string, string>): Service =>
    service(name, { ...settings.serviceEnv, ...env }, options);
  return {
    scheduler: plan("scheduler", {
      DATABASE_URL: databaseUrl,
      PAWL_EXECUTOR_TOKEN: token,
      PAWL_SCHEDULER_PORT: String(settings.schedulerPort),
      PAWL_METRICS_PORT: metrics.scheduler,
    }),
    executor: plan("executor", {
      ...demoEnv({ ...options.executorEnv, ...settings.serviceEnv }),
      PAWL_SCHEDULER_ADDRESS: scheduler,
      PAWL_EXECUTOR_TOKEN: token,
      PAWL_METRICS_PORT: metrics.executor,
    }),
    gateway: plan("gateway", {
      DATABASE_URL: databaseUrl,
      PAWL_SCHEDULER_ADDRESS: scheduler,
      PAWL_GATEWAY_PORT: String(settings.gatewayPort),
    }),
  };
}

function service(name: ServiceName, env: Record<string, string>, options: TrioOptions): Service {
  const log: LogFile = openLog(options.logDir, name);
  const supervised = new Supervised({
    start: (signal) =>
      startService({ service: name, env, log: log.write }, AbortSignal.any([signal, options.stop])),
    report: (incident) => options.report(name, incident),
  });
  return { name, supervised };
}

/** Nobody needs to know the metrics port beforehand, so a taken one is no fault: 0 lets the service choose. */
async function preferredPort(port: number): Promise<number> {
  return port === 0 || !(await isPortFree(port)) ? 0 : port;
}

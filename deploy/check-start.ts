// `npm start -- --check-config` and `npm start -- --print-config`: the configuration of a local start. Nothing is started or connected.
import type { Env } from "@pawl/platform/config/env";
import { explain, StartFault } from "./leave-with.ts";
import {
  type Answer,
  askService,
  printAnswers,
  type Question,
  SERVICES,
} from "./service-config.ts";
import type { ServiceName } from "./service-process.ts";
import { faultsOfSettings, readSettings } from "./settings.ts";
import { serviceVariables } from "./trio.ts";

const OWN: ReadonlySet<string> = new Set(["--check-config", "--print-config", "--json"]);
/** Stands for the address of the embedded database, whose port is chosen at each start. */
const EMBEDDED = "postgres://embedded";
const TOKEN = "a token of each start";

/** The answers of the start itself and of its services. */
async function answersOf(
  args: readonly string[],
  env: Env,
  question: Question,
): Promise<readonly Answer[]> {
  const faults = faultsOfSettings(env);
  const flags = args.filter((arg) => !OWN.has(arg));
  // A faulty port is reported, and the default of its place lets the services report the rest.
  const usable = { ...env, ...Object.fromEntries(faults.map(({ variable }) => [variable, ""])) };
  const settings = readSettings(flags, usable);
  const { metricsPort: port } = settings;
  const variables = serviceVariables(settings, {
    databaseUrl: settings.databaseUrl ?? EMBEDDED,
    token: settings.serviceEnv["PAWL_EXECUTOR_TOKEN"] ?? TOKEN,
    metricsPorts: { executor: port, scheduler: port === 0 ? 0 : port + 1 },
    executorEnv: {},
  });
  const own: Answer = {
    service: "npm start",
    faults,
    variables: [
      { name: "PAWL_DATA_DIR", value: settings.dataDir, source: sourceOf(env, "PAWL_DATA_DIR") },
      ...["--once", "--open"].map((name) => {
        const value = flags.includes(name);
        return { name, value, source: value ? "flag" : "default" };
      }),
    ],
  };
  const asked = await Promise.all(
    SERVICES.map(async (service) => {
      const given = { PATH: env["PATH"], ...settings.serviceEnv, ...variables[service] };
      return withSources(await askService(service, given, question), env, variables);
    }),
  );
  return [own, ...asked];
}

const sourceOf = (env: Env, name: string): string => ((env[name] ?? "") === "" ? "default" : "env");

/** Names the start as the source of the variables that it gives to a service and that the user did not set. */
function withSources(answer: Answer, env: Env, given: Readonly<Record<ServiceName, Env>>): Answer {
  const { service, variables } = answer;
  const own = given[service as ServiceName];
  if (variables === undefined) return answer;
  return {
    ...answer,
    variables: variables.map((row) => {
      const { name } = row;
      const chosen = own[name];
      const isUsers = chosen === undefined || chosen === env[name];
      const value = chosen === EMBEDDED ? "the embedded PostgreSQL" : row.value;
      return { name, value, source: isUsers ? sourceOf(env, name) : "start" };
    }),
  };
}

try {
  const args = process.argv.slice(2);
  const question: Question = args.includes("--print-config") ? "print" : "check";
  const answers = await answersOf(args, process.env, question);
  process.exitCode = printAnswers(answers, args.includes("--json"));
} catch (error) {
  explain(error, "The configuration could not be read");
  process.exitCode = error instanceof StartFault ? 1 : 2;
}

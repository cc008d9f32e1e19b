// `pawl dev -- <command>`: the local stack, and the handler process that the command starts. A change of a file below the folder starts a new
// version of the process beside the old one; the old one finishes its work and exits. Ctrl-C stops everything.
//
//   node deploy/dev.ts [--watch <folder>]… [--no-stack] -- <command> [arguments]
import { parseArgs } from "node:util";
import { resolve } from "node:path";
import { addressesOf } from "@pawl/core/name/addresses";
import { watchFiles } from "./dev/file-watch.ts";
import { Generations, type Report } from "./dev/generations.ts";
import { startHandlerProcess } from "./dev/handler-process.ts";
import { lookAtHosts } from "./dev/host-view.ts";
import { leaveWith, StartFault } from "./leave-with.ts";
import { say } from "./logbook.ts";
import { LOOPBACK } from "./ports.ts";
import { readSettings } from "./settings.ts";
import { startStack } from "./stack.ts";

const USAGE =
  "usage: pawl dev [--watch <folder>]… [--no-stack] -- <command>, such as pawl dev -- node handlers.ts";

interface DevArguments {
  readonly command: readonly [string, ...string[]];
  /** The folder of the process. */
  readonly folder: string;
  readonly watched: readonly string[];
  /** Whether a stack runs already, and only the process is wanted. */
  readonly isStackRunning: boolean;
}

/** @throws StartFault with the usage */
function readArguments(args: readonly string[], folder: string): DevArguments {
  const at = args.indexOf("--");
  const [program, ...rest] = at === -1 ? [] : args.slice(at + 1);
  if (program === undefined) throw new StartFault("there is no command after --", USAGE);
  const options = {
    watch: { type: "string", multiple: true, default: [] as string[] },
    "no-stack": { type: "boolean", default: false },
  } as const;
  try {
    const { values } = parseArgs({ args: args.slice(0, at), options });
    const watched = values.watch.length === 0 ? [folder] : values.watch;
    return {
      command: [program, ...rest],
      folder,
      watched: watched.map((path) => resolve(folder, path)),
      isStackRunning: values["no-stack"],
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartFault(why, USAGE, { cause: error });
  }
}

async function run(stop: AbortSignal): Promise<number> {
  const { env } = process;
  const dev = readArguments(process.argv.slice(2), env["INIT_CWD"] ?? process.cwd());
  await using stack = new AsyncDisposableStack();
  const settings = readSettings([], env);
  if (!dev.isStackRunning) {
    const { url } = await startStack({ settings, stack, stop, prepare: async () => ({}) });
    say(`console and API: ${url}`);
  }
  const address = dev.isStackRunning
    ? (env["PAWL_HANDLER_ADDRESS"] ?? `${LOOPBACK}:${settings.handlerPort}`)
    : `${LOOPBACK}:${settings.handlerPort}`;
  const nameOf = (version: number): string => `dev ${process.pid}.${version}`;
  const addresses = addressesOf(address);
  if (addresses.length === 0)
    throw new StartFault(
      "PAWL_HANDLER_ADDRESS has no address",
      `Write host:port, such as ${LOOPBACK}:${settings.handlerPort}.`,
    );
  const { close, ...view } = lookAtHosts({
    ...{ addresses, nameOf, token: env["PAWL_HANDLER_TOKEN"] },
    onFault: (host, why) => say(`! the handler port ${host} does not answer: ${why}`),
  });
  stack.defer(close);
  const generations = new Generations({
    ...view,
    report: (report) => say(lineOf(report)),
    start: (version) =>
      startHandlerProcess({
        command: dev.command,
        folder: dev.folder,
        env: { ...env, PAWL_HANDLER_ADDRESS: address, PAWL_HANDLER_NAME: nameOf(version) },
        print: (line) => process.stdout.write(`${String(version).padStart(5)} |  ${line}\n`),
      }),
  });
  stack.defer(() => generations.stop());
  for (const folder of dev.watched) {
    const onFault = (error: Error): void => say(`! ${folder} is not watched: ${error.message}`);
    const onChange = (path: string): void => {
      say(`${path} changed`);
      generations.reload();
    };
    stack.use(watchFiles(folder, onChange, onFault));
  }
  generations.reload();
  await new Promise((done) => stop.addEventListener("abort", done, { once: true }));
  return 0;
}

function lineOf(report: Report): string {
  switch (report.kind) {
    case "starting":
      return `version ${report.version} of the handlers starts`;
    case "serving":
      return `version ${report.version} serves (process ${report.pid})${
        report.draining === 0 ? "" : `; ${oldOnes(report.draining)}`
      }`;
    case "failed":
      return `! version ${report.version} does not serve (${report.why}); ${
        report.isReplaced ? "the version before it stays" : "the next change starts another"
      }`;
    case "ended":
      return `! version ${report.version} ended (${report.how}); it starts again`;
    case "drained":
      return report.killed === 0
        ? `version ${report.version} has finished its work`
        : `! version ${report.version} was killed with ${functionsOf(report.killed)} that ignored the cancel`;
    case "stuck":
      return `! ${functionsOf(report.functions)} of version ${report.version} ignored the cancel; another version of the same code takes its place`;
    case "refused":
      return `version ${report.version} changed the schemas of a type that the version before it served; it starts again`;
    case "stopping":
      return `${oldOnes(report.draining)}; they have a minute`;
    default:
      return report satisfies never;
  }
}

const functionsOf = (count: number): string => (count === 1 ? "1 function" : `${count} functions`);

const oldOnes = (count: number): string =>
  count === 1 ? "1 old version still works" : `${count} old versions still work`;

if (import.meta.main) await leaveWith(run);

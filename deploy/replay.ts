// `pawl handler replay <run> <node> -- <command>`: runs a recorded invocation again in a process of the user. The process gets the recorded
// input and config. Effects are only read. The exit code is 0 if the outcome is the recorded one, and 1 if it is another.
//
//   node deploy/replay.ts --address <url> [--iteration <n>] <run> <node> -- <command> [arguments]
import { parseArgs } from "node:util";
import { createPawlClient, fetchTransport, PawlError } from "@pawl/client";
import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { serve } from "@pawl/platform/rpc/implementation";
import { HandlerService } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { startHandlerProcess } from "./dev/handler-process.ts";
import { leaveWith, StartFault } from "./leave-with.ts";
import { LOOPBACK } from "./ports.ts";
import { ReplayHost } from "./replay/host.ts";
import { type Invocation, recordedEnding } from "./replay/recorded.ts";
import { compare, type Ending } from "./replay/verdict.ts";

const USAGE =
  "usage: pawl handler replay <run> <node> -- <command>, such as pawl handler replay 8918bc96 charge -- node handlers.ts";
const STOP_MS = 1_000;

interface ReplayArguments {
  readonly command: readonly [string, ...string[]];
  readonly address: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
}

/** @throws StartFault with the usage */
function readArguments(args: readonly string[]): ReplayArguments {
  const at = args.indexOf("--");
  const [program, ...rest] = at === -1 ? [] : args.slice(at + 1);
  if (program === undefined) throw new StartFault("there is no command after --", USAGE);
  const options = {
    address: { type: "string", default: "http://127.0.0.1:7400" },
    iteration: { type: "string", default: "0" },
  } as const;
  try {
    const parsed = parseArgs({ args: args.slice(0, at), options, allowPositionals: true });
    const { values, positionals } = parsed;
    const [runId, nodeId] = positionals;
    if (runId === undefined || nodeId === undefined) throw new Error("name a run and a node");
    const { address } = values;
    const iteration = Number(values.iteration);
    return { command: [program, ...rest], address, runId, nodeId, iteration };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartFault(why, USAGE, { cause: error });
  }
}

/** @throws StartFault if the gateway does not return it */
async function recordedInvocation(asked: ReplayArguments): Promise<Invocation> {
  const { address, runId, nodeId, iteration } = asked;
  const client = createPawlClient({ transport: fetchTransport(address) });
  try {
    return await client.runs.invocation(runId, nodeId, { iteration });
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const advice = error.next ?? `The gateway is ${address}.`;
    throw new StartFault(`${error.reason}: ${error.message}`, advice, { cause: error });
  } finally {
    client.close();
  }
}

async function run(stop: AbortSignal): Promise<number> {
  const asked = readArguments(process.argv.slice(2));
  const { command, runId, nodeId, iteration } = asked;
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const recorded = await recordedInvocation(asked);
  const replayed = await replay(
    { recorded, place: { runId, nodeId, iteration }, print },
    { command, stop },
  );
  const { isSame, lines } = compare(recordedEnding(recorded), replayed);
  for (const line of lines) print(line);
  return isSame ? 0 : 1;
}

/** Runs the recorded invocation once in a process of the command, and ends the process. @throws StartFault */
async function replay(
  parts: ConstructorParameters<typeof ReplayHost>[0],
  { command, stop }: { readonly command: ReplayArguments["command"]; readonly stop: AbortSignal },
): Promise<Ending> {
  const { env } = process;
  const host = new ReplayHost(parts);
  await using stack = new AsyncDisposableStack();
  const server = await startGrpcServer({
    ...{ host: LOOPBACK, port: 0, services: [serve(HandlerService, { serve: host.serve })] },
    onInternal: ({ error }) => parts.print(`! ${String(error)}`),
  });
  stack.defer(() => server.stop(STOP_MS));
  parts.print(`replay of ${parts.recorded.type}, attempt ${parts.recorded.attempt}`);
  const child = startHandlerProcess({
    command,
    folder: env["INIT_CWD"] ?? process.cwd(),
    env: { ...env, PAWL_HANDLER_ADDRESS: `${LOOPBACK}:${server.port}` },
    print: (line) => parts.print(`  | ${line}`),
  });
  stack.defer(() => child.stop());
  const gone = child.exited.then((how) => {
    throw new Error(`the process ended before its handler did (${how})`);
  });
  const stopped = new Promise<never>((_, reject) => {
    stop.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
  });
  try {
    return await Promise.race([host.ending, gone, stopped]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const advice = "Check the command: it must start a process that serves this type.";
    throw new StartFault(why, advice, { cause: error });
  }
}

if (import.meta.main) await leaveWith(run);

// The example handlers of `npm start`: three supervised processes, and the workflows polyglot-order and polyglot-agent, which need them. A language
// without its toolchain is skipped with the reason, and the workflows are then not registered.
//
// Race: stop() comes while a program is built or connects. The signal ends the build, and a process that has started is stopped.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { PawlClient } from "@pawl/client";
import { type HandlerProcess, startHandlerProcess } from "../dev/handler-process.ts";
import { lookAtHosts } from "../dev/host-view.ts";
import { drainOrKill } from "../dev/stuck.ts";
import { type LogFile, openLog } from "../logbook.ts";
import { ROOT } from "../settings.ts";
import { incidentLine, type Lifetime, Supervised } from "../supervise.ts";
import { type Prepared, type Program, PROGRAMS } from "./programs.ts";

const WORKFLOW = "polyglot-order";
/** An agent whose tools are two of the handlers. */
const AGENT = "polyglot-agent";
const POLL_MS = 100;
const CONNECT_MS = 30_000;
const REASON_CHARS = 160;

interface PolyglotOptions {
  readonly client: PawlClient;
  /** The executor that the processes connect to, as host:port. */
  readonly address: string;
  readonly logDir: string;
  /** The folder for the letters. */
  readonly outbox: string;
  readonly programs?: readonly Program[];
  /** Receives lines for the terminal. */
  readonly report: (line: string) => void;
}

/** The text of one of the workflows. */
export const polyglotText = (workflowId = WORKFLOW): string =>
  readFileSync(new URL(`../examples/handlers/${workflowId}.yaml`, import.meta.url), "utf8");

export class Polyglot {
  readonly #options: PolyglotOptions;
  readonly #stopping = new AbortController();
  readonly #parts: Supervised[] = [];
  #started: Promise<boolean> | undefined;

  constructor(options: PolyglotOptions) {
    this.#options = options;
  }

  /** Starts the programs that this machine can run. Returns whether the workflows are registered. It never rejects. */
  start(): Promise<boolean> {
    return (this.#started ??= this.#start());
  }

  /** Ends the processes and their restarts. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#started;
    await Promise.all(this.#parts.map((part) => part.stop()));
  }

  async #start(): Promise<boolean> {
    const { client, programs = PROGRAMS, report } = this.#options;
    const served = await Promise.all(programs.map((program) => this.#serve(program)));
    if (this.#stopping.signal.aborted || served.includes(false)) return false;
    try {
      for (const workflowId of [AGENT, WORKFLOW])
        await client.workflows.apply(polyglotText(workflowId), { workflowId });
    } catch (error) {
      report(`! ${WORKFLOW} could not be registered: ${reasonOf(error)}`);
      return false;
    }
    report(`one workflow in three languages: ./pawl run start ${WORKFLOW} --sample --wait`);
    return true;
  }

  async #serve({ language, type, prepare }: Program): Promise<boolean> {
    const { report } = this.#options;
    const { signal } = this.#stopping;
    try {
      const prepared = await prepare(signal);
      if (signal.aborted) return false;
      if (prepared.kind === "missing") {
        report(`no example handler in ${language}: ${reasonOf(prepared.why)}`);
        return false;
      }
      const log = openLog(this.#options.logDir, `example-${language.toLowerCase()}`);
      const part = new Supervised({
        start: (stop) => this.#connect(language, prepared, log, AbortSignal.any([stop, signal])),
        report: (incident) => report(incidentLine(`example handler in ${language}`, incident)),
      });
      await part.start();
      this.#parts.push(part);
      report(`the example handler in ${language} serves ${type} (process ${part.pid})`);
      return true;
    } catch (error) {
      if (!signal.aborted) report(`! no example handler in ${language}: ${reasonOf(error)}`);
      return false;
    }
  }

  /** Starts a process and waits until a scheduler lists it. @throws Error when it ends first, or does not connect */
  async #connect(
    language: string,
    { command, env }: Extract<Prepared, { kind: "found" }>,
    log: LogFile,
    signal: AbortSignal,
  ): Promise<Lifetime> {
    const { address, outbox } = this.#options;
    const name = `${WORKFLOW} ${language} ${process.pid}`;
    const own = { PAWL_HANDLER_ADDRESS: address, PAWL_HANDLER_NAME: name, OUTBOX: outbox };
    const child = startHandlerProcess({
      command,
      folder: ROOT,
      env: { ...process.env, ...env, ...own },
      print: (line) => log.write(`${line}\n`),
    });
    const over = new AbortController();
    const patience = AbortSignal.any([signal, over.signal, AbortSignal.timeout(CONNECT_MS)]);
    const ended = child.exited.then((how) => {
      throw new Error(`it ended before it served (${how}); see ${log.path}`);
    });
    try {
      await Promise.race([this.#listed(name, patience), ended]);
      void this.#replaceIfStuck(name, child, signal);
      return child;
    } catch (error) {
      await child.stop();
      throw error;
    } finally {
      over.abort();
    }
  }

  /** Ends a process whose functions ignore their cancel. Its supervisor starts another one. */
  async #replaceIfStuck(name: string, child: HandlerProcess, stop: AbortSignal): Promise<void> {
    const { address, report } = this.#options;
    const view = lookAtHosts({
      ...{ addresses: [address], token: process.env["PAWL_HANDLER_TOKEN"], nameOf: () => name },
      // The supervisor of the executor reports its end.
      onFault: () => undefined,
    });
    const over = new AbortController();
    void child.exited.then(() => over.abort());
    const signal = AbortSignal.any([stop, over.signal]);
    try {
      await view.stuck(0, false, signal);
      report(`! functions of ${name} ignored the cancel; another process takes its place`);
      const alone = (drained: AbortSignal) =>
        view.stuck(0, true, AbortSignal.any([signal, drained]));
      await drainOrKill(child, alone);
    } catch {
      // The process ended, or everything stops.
    } finally {
      view.close();
    }
  }

  async #listed(name: string, signal: AbortSignal): Promise<void> {
    const isListed = async (): Promise<boolean> => {
      // The gateway may be starting again, so the next round asks it again.
      const executors = await this.#options.client.executors.list({ signal }).catch(() => []);
      return executors.some(({ processName }) => processName === name);
    };
    while (!(await isListed())) await delay(POLL_MS, undefined, { signal });
  }
}

/** A reason on one line. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ").slice(0, REASON_CHARS);
}

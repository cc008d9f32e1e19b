// The kit's host for one program: a server, the program, and sessions between them. Cases share a program as long as it lives and behaves: each
// case begins with a session of its own, because the kit answers the program's Resume with Lost.

import { randomUUID } from "node:crypto";
import type { ServeRequest } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { BrokenRule, must } from "./broken-rule.ts";
import { HostSession, type SessionSettings } from "./host-session.ts";
import { HostStream, type Mutant } from "./host-stream.ts";
import { Mailbox } from "./mailbox.ts";
import { Program } from "./program.ts";
import { startWireServer, type WireServer } from "./wire.ts";

/** The token of the kit; no failure may repeat it. */
export const TOKEN = "kit-token-5f1d2c9a";
/** A variable in the environment of the program; no failure may repeat its value. */
export const SECRET = "kit-secret-81b0e7d4";
/** How many slots the program has. */
export const SLOTS = 8;

const SERVE = "/pawl.handler.v1.HandlerService/Serve";
const UNIMPLEMENTED = 12;
/** A program may compile itself before it connects. */
const START_MS = 30_000;
const CONNECT_MS = 10_000;

/** What an Invoke may have besides its type and input. */
export interface InvokeSettings {
  readonly configJson?: string;
  readonly effectKey?: string;
  readonly attempt?: number;
  readonly invocationId?: string;
  readonly traceparent?: string;
  readonly memoryJson?: string;
  readonly taint?: string[];
  readonly stateJson?: string;
}

export class Kit {
  readonly #command: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #streams = new Mailbox<HostStream>();
  #server: WireServer | undefined;
  #program: Program | undefined;
  #taken = 0;
  mutant: Mutant = {};

  constructor(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#command = command;
    this.#env = env;
  }

  /** The program under test; it is started on demand. */
  get program(): Program {
    if (this.#program !== undefined) return this.#program;
    this.#taken = this.#streams.things.length;
    this.#program = new Program(this.#command, {
      ...this.#env,
      PAWL_HANDLER_ADDRESS: `127.0.0.1:${this.#server?.port}`,
      PAWL_HANDLER_TOKEN: TOKEN,
      KIT_SECRET: SECRET,
    });
    // A program that ends before it connects must not cost the whole wait for its stream.
    this.#program.onExit(() => this.#streams.changed());
    return this.#program;
  }

  /** Whether the last program is over. */
  get hasEnded(): boolean {
    return this.#program?.hasExited === true;
  }

  async start(): Promise<void> {
    this.#server = await startWireServer((call) => {
      if (call.path !== SERVE) call.end(UNIMPLEMENTED, "the kit serves Serve only");
      else this.#streams.add(new HostStream(call, this.mutant));
    });
  }

  /** Ends the program; the next case starts another. */
  async restart(): Promise<void> {
    await this.#program?.kill();
    this.#program = undefined;
  }

  /** Closes the streams of a case, so that the next one begins with another session. */
  hangUp(): void {
    for (const { call } of this.#streams.things) call.end();
  }

  async stop(): Promise<void> {
    await this.restart();
    await this.#server?.close();
  }

  /** The next stream of the program, with its first message. */
  async accept(
    withinMs: number = CONNECT_MS,
  ): Promise<{ stream: HostStream; first: ServeRequest }> {
    const isNew = this.#program === undefined;
    const { program } = this;
    const stream = await this.#streams.until(
      () => {
        const next = this.#streams.things[this.#taken];
        if (next === undefined && program.hasExited)
          throw new BrokenRule("a stream", `the program exited: ${program.stderr}`);
        return next;
      },
      "another stream of the program",
      isNew ? START_MS : withinMs,
    );
    this.#taken += 1;
    return { stream, first: await stream.opening() };
  }

  /** A new session with the program. */
  async open(settings: SessionSettings = {}): Promise<HostSession> {
    for (;;) {
      const { stream, first } = await this.accept();
      if (first.opening.case === "hello")
        return new HostSession(stream, first.opening.value, settings);
      stream.write({ opening: { case: "lost", value: {} } });
      stream.call.end();
    }
  }

  /** The stream on which the program resumes a session, answered with Welcome. */
  async resume(session: HostSession, withinMs?: number): Promise<HostStream> {
    const { stream, first } = await this.accept(withinMs);
    const { opening } = first;
    must(
      opening.case === "resume" && opening.value.sessionId === session.hello.sessionId,
      `resume of the session ${session.hello.sessionId}`,
      opening,
    );
    session.carry(stream, true);
    return stream;
  }
}

/** The item that invokes a handler, and its invocation id. */
export function invokeItem(type: string, input: unknown, settings: InvokeSettings = {}) {
  const invocationId = settings.invocationId ?? `inv-${randomUUID()}`;
  const value = {
    invocationId,
    type,
    inputJson: typeof input === "string" ? input : JSON.stringify(input),
    configJson: settings.configJson ?? "{}",
    attempt: settings.attempt ?? 1,
    effectKey: settings.effectKey ?? `key-${invocationId}`,
    timeoutMs: 60_000n,
    runId: "11111111-1111-7111-8111-111111111111",
    nodeId: "node-1",
    iteration: 0,
    workflowId: "kit",
    traceparent: settings.traceparent ?? "",
    memoryJson: settings.memoryJson ?? "",
    taint: settings.taint ?? [],
    stateJson: settings.stateJson ?? "",
  };
  return { invocationId, item: { case: "invoke", value } as const };
}

/** Sends an Invoke, and gives its invocation id. Text is sent as it is, as JSON. */
export function invoke(
  session: HostSession,
  type: string,
  input: unknown,
  settings?: InvokeSettings,
): string {
  const { invocationId, item } = invokeItem(type, input, settings);
  session.send(item);
  return invocationId;
}

/** Proves that the program serves: an echo comes back. What the program did before it is over by then, as far as it can be. */
export async function echo(session: HostSession, value: unknown = "ok"): Promise<void> {
  const id = invoke(session, "kit.echo@1", JSON.stringify(value));
  const { outputJson } = await session.item("result", id);
  must(
    JSON.stringify(JSON.parse(outputJson)) === JSON.stringify(value),
    `the output ${JSON.stringify(value)}`,
    outputJson,
  );
}

/** So many round trips of Ping and Pong, one after the other: what the program does at once has arrived by then. */
export async function pings(session: HostSession, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const before = pongsIn(session);
    session.send({ case: "ping", value: {} });
    await session.items.until(
      () => (pongsIn(session) > before ? true : undefined),
      "Pong as the answer to Ping",
    );
  }
}

const pongsIn = (session: HostSession): number =>
  session.items.things.filter(({ item }) => item.case === "pong").length;

// The kit's gateway for one program that watches runs. It serves WatchRun and GetRun as a case scripts them. Cases share a program as long as
// it lives: each begins with a command for a run of its own, and the program makes one watch after the other.

import { randomUUID } from "node:crypto";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { WatchRunRequestSchema } from "@pawl/proto/pawl/v1/event_service_pb";
import { RunSchema, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { GetRunResponseSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import { BrokenRule } from "../broken-rule.ts";
import { Mailbox } from "../mailbox.ts";
import { Program } from "../program.ts";
import type { Bench } from "../run-cases.ts";
import { startWireServer, type WireCall, type WireServer } from "../wire.ts";
import { type Command, type Printed, type WatchMutant, WatchStream } from "./watch-stream.ts";
import { Watching } from "./watching.ts";

const WATCH_RUN = "/pawl.v1.EventService/WatchRun";
const GET_RUN = "/pawl.v1.RunService/GetRun";
const UNIMPLEMENTED = 12;
/** A program may compile itself before it connects. */
const START_MS = 30_000;

/** A live run, for GetRun. */
const LIVE = { status: RunStatus.RUNNING } as const;

/** How the gateway answers in one case. */
export interface Script {
  /** Called for each stream as it opens; without it the case takes the streams itself. */
  readonly play?: (stream: WatchStream) => void;
  /** What GetRun answers. */
  readonly run?: MessageInitShape<typeof RunSchema>;
}

/** A run that ended with this event, as GetRun shows it. */
export const endedAt = (lastEventId: bigint): MessageInitShape<typeof RunSchema> => ({
  status: RunStatus.COMPLETED,
  lastEventId,
  endTime: timestampFromMs(Date.now()),
});

export class WatchKit implements Bench<WatchMutant> {
  mutant: WatchMutant = {};
  readonly #command: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly streams = new Mailbox<WatchStream>();
  readonly lines = new Mailbox<Printed>();
  /** Paths of calls that the gateway does not serve. */
  readonly strange: string[] = [];
  #open: WireCall[] = [];
  #script: Script = {};
  #server: WireServer | undefined;
  #program: Program | undefined;

  constructor(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#command = command;
    this.#env = env;
  }

  /** The program under test; it is started on demand. */
  get program(): Program {
    if (this.#program !== undefined) return this.#program;
    const env = { ...this.#env, PAWL_ADDRESS: `http://127.0.0.1:${this.#server?.port}` };
    const program = new Program(this.#command, env, (line) =>
      line.startsWith("{") ? line : undefined,
    );
    program.notes.onAdd = () => this.#read(program.notes.things.at(-1) ?? "");
    program.onExit(() => {
      this.streams.changed();
      this.lines.changed();
    });
    this.#program = program;
    return program;
  }

  get hasEnded(): boolean {
    return this.#program?.hasExited === true;
  }

  async start(): Promise<void> {
    this.#server = await startWireServer((call) => this.#serve(call));
  }

  async restart(): Promise<void> {
    await this.#program?.kill();
    this.#program = undefined;
  }

  hangUp(): void {
    for (const call of this.#open) call.end();
    this.#open = [];
  }

  async stop(): Promise<void> {
    await this.restart();
    await this.#server?.close();
  }

  /** Has the program watch a run. */
  watch(command: Partial<Omit<Command, "watch">> = {}, script: Script = {}): Watching {
    const patienceMs = this.#program === undefined ? START_MS : undefined;
    const { program } = this;
    const whole: Command = {
      watch: randomUUID(),
      after: 0,
      silence_ms: 45_000,
      give_up_ms: 300_000,
      leave_after: 0,
      ...command,
    };
    this.#script = script;
    const isPlayed = script.play !== undefined;
    const watching = new Watching(this, { runId: whole.watch, isPlayed, patienceMs });
    program.tell(JSON.stringify(this.mutant.command?.(whole) ?? whole));
    return watching;
  }

  /** @throws BrokenRule if the program is over: what a case waits for cannot come */
  mustLive(expected: string): void {
    if (this.#program?.hasExited === true)
      throw new BrokenRule(expected, `the program exited: ${this.#program.stderr}`);
  }

  #serve(call: WireCall): void {
    const { path } = call;
    this.#open.push(call);
    if (path === WATCH_RUN) call.listen((bytes) => this.#watched(call, bytes), ignore);
    else if (path === GET_RUN) call.listen(() => this.#getRun(call), ignore);
    else {
      this.strange.push(path);
      call.end(UNIMPLEMENTED, "the kit serves WatchRun and GetRun only");
    }
  }

  #watched(call: WireCall, bytes: Uint8Array): void {
    const request = fromBinary(WatchRunRequestSchema, bytes);
    const stream = new WatchStream(call, request, this.mutant);
    this.streams.add(stream);
    this.#script.play?.(stream);
  }

  #getRun(call: WireCall): void {
    const whole = create(RunSchema, this.#script.run ?? LIVE);
    const run = this.mutant.run?.(whole) ?? whole;
    call.write(toBinary(GetRunResponseSchema, create(GetRunResponseSchema, { run })));
    call.end();
  }

  #read(text: string): void {
    const line = lineOf(text);
    for (const seen of this.mutant.printed?.(line) ?? [line]) this.lines.add(seen);
  }
}

const ignore = (): void => undefined;

function lineOf(text: string): Printed {
  try {
    const line: Printed = JSON.parse(text);
    return line;
  } catch {
    return { unreadable: text };
  }
}

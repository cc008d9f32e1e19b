// The host: serves HandlerService and keeps one session for each process that connected.
//
// The races it survives: a process resumes on a new stream before the host has seen the end of the old one; the newest stream counts. Two
// processes use one session_id; the second Hello is refused. A process connects while the host stops; a new one is sent away and tries
// elsewhere, a cut one resumes and delivers what it has.

import type { Implementation } from "@pawl/platform/rpc/implementation";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import {
  type HandlerService,
  type Hello,
  type ServeRequest,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { checkHello } from "./hello.ts";
import { SESSIONS_MAX } from "./limits.ts";
import type { ServeStream } from "./link.ts";
import { HandlerSession, type SessionParts } from "./session.ts";

export class Host {
  readonly #parts: SessionParts;
  /** By session_id. */
  readonly #sessions = new Map<string, HandlerSession>();
  #isStopping = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Attempts of all processes that run now. */
  get busyCount(): number {
    let sum = 0;
    for (const session of this.#sessions.values()) sum += session.busyCount;
    return sum;
  }

  readonly implementation: Implementation<typeof HandlerService> = {
    serve: (stream) => this.#serve(stream),
    listSessions: async () => ({
      hostId: this.#parts.hostId,
      sessions: [...this.#sessions.values()]
        .map((session) => session.describe())
        .toSorted((a, b) => (a.name ?? "").localeCompare(b.name ?? "")),
    }),
  };

  /** Lets every process finish within the grace period, then ends its stream. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#sessions.values()].map((session) => session.drain()));
  }

  async #serve(stream: ServeStream): Promise<void> {
    let session: HandlerSession | undefined;
    let isFirst = true;
    stream.listen({
      message: (message) => {
        try {
          if (!isFirst) return session?.receive(stream, message);
          isFirst = false;
          session = this.#find(message);
          if (session !== undefined) return session.open(stream, message);
          stream.write({ opening: { case: "lost", value: {} } });
          stream.end();
        } catch (error) {
          stream.fail(error);
        }
      },
      end: () => stream.end(),
    });
    await stream.closed;
    session?.closed(stream);
  }

  /** The session that the first message opens or resumes; undefined if the host does not have it any more. */
  #find({ opening }: ServeRequest): HandlerSession | undefined {
    if (opening.case === undefined)
      throw invalidField("opening", "REQUIRED", "the first message must have hello or resume");
    // A cut process may still resume while the host stops: it delivers what the host waits for.
    return opening.case === "hello"
      ? this.#begin(opening.value)
      : this.#sessions.get(opening.value.sessionId);
  }

  #begin(hello: Hello): HandlerSession {
    if (this.#isStopping) throw new EngineError("DRAINING", "This host is stopping.");
    checkHello(hello);
    const { sessionId } = hello;
    if (this.#sessions.has(sessionId))
      throw new EngineError(
        "SESSION_IN_USE",
        "Another process has this session_id. Make a new one for each session.",
      );
    if (this.#sessions.size >= SESSIONS_MAX)
      throw new EngineError("OVERLOADED", `This host has ${SESSIONS_MAX} sessions already.`);
    const onEnd = (): void => void this.#sessions.delete(sessionId);
    const session = new HandlerSession(this.#parts, hello, onEnd);
    this.#sessions.set(sessionId, session);
    return session;
  }
}

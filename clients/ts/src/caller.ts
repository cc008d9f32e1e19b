// How every method of the client calls the server. The client repeats a call that may succeed later. That is safe for mutations too: each
// one carries a request id, by which the server recognises a repeat. Race: an answer is lost after the server committed.

import type { CallOptions } from "@connectrpc/connect";
import { type Clock, backoffMs } from "./backoff.ts";
import { PawlError, pawlErrorFrom } from "./errors.ts";

/** Options of every call. */
export interface PawlCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of every mutation. */
export interface MutationOptions extends PawlCallOptions {
  /** Makes a repeat harmless. By default a new UUID, kept across this client's own retries. */
  readonly requestId?: string | undefined;
}

/** The person who pauses or resumes, and the reason. */
export interface PauseOptions extends MutationOptions {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

/** Options of every list that comes in pages. */
export interface PageOptions extends PawlCallOptions {
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

/** One page of a list: the items under their name, and the token of the next page, which is empty on the last page. */
export type Page<Name extends string, Item> = { readonly [K in Name]: readonly Item[] } & {
  readonly nextPageToken: string;
};

/** The fields of a request in the form of callers: undefined for a default, and read-only lists. */
type Fields<Request> = {
  readonly [Name in keyof Request]?:
    | (Request[Name] extends readonly (infer Item)[] | undefined ? readonly Item[] : Request[Name])
    | undefined;
};

/** Calls a method until it succeeds, fails permanently, runs out of attempts or is aborted. @throws PawlError */
export type Caller = <Request, Answer>(
  method: (request: Request, options?: CallOptions) => Promise<Answer>,
  request: Fields<Request> & PawlCallOptions,
) => Promise<Answer>;

export interface CallerOptions {
  readonly clock: Clock;
  /** Attempts in all, from 1. */
  readonly attempts: number;
  /** Deadline of each attempt of a unary call. */
  readonly timeoutMs: number;
}

export const createCaller =
  ({ clock, attempts, timeoutMs }: CallerOptions): Caller =>
  async (method, fields) => {
    const { signal } = fields;
    // Protobuf uses the default for an undefined field, and ignores names that a message does not have.
    const request = fields as unknown as Parameters<typeof method>[0];
    for (let attempt = 1; ; attempt++) {
      try {
        return await method(request, { timeoutMs, ...(signal === undefined ? {} : { signal }) });
      } catch (thrown) {
        const error = pawlErrorFrom(thrown);
        if (!error.retryable || attempt >= attempts) throw error;
        const delayMs = backoffMs(attempt, clock.random());
        await clock.pause(Math.max(delayMs, error.retryAfterMs ?? 0), signal);
        if (signal?.aborted === true) throw error;
      }
    }
  };

/** Options of a mutation with the caller's request id, or a new one. */
export const identified = <Options extends MutationOptions>(
  options: Options | undefined,
): Options & { readonly requestId: string } => ({
  // Without options there are no fields.
  ...(options as Options),
  requestId: options?.requestId ?? freshRequestId(),
});

const ID_BYTES = 16;

/**
 * A new request id. `crypto.randomUUID` is missing on pages without TLS, and Node 18 has no global `crypto` at all. There Math.random is
 * enough: an id only has to differ from the caller's other ids, and it is no secret.
 */
export function freshRequestId(): string {
  const { crypto } = globalThis as { crypto?: Crypto };
  if (crypto?.randomUUID !== undefined) return crypto.randomUUID();
  const bytes =
    crypto === undefined
      ? Uint8Array.from({ length: ID_BYTES }, () => Math.floor(Math.random() * 256))
      : crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A message that a Pawl server always sends. @throws PawlError if another server answered */
export function present<T>(message: T | undefined): T {
  if (message === undefined) throw new PawlError("UNRECOGNISED", "the answer lacks its subject");
  return message;
}

/** One message of an answer. */
export const pick = async <Answer, Name extends keyof Answer>(
  answer: Promise<Answer>,
  name: Name,
): Promise<Exclude<Answer[Name], undefined>> =>
  present((await answer)[name] as Exclude<Answer[Name], undefined> | undefined);

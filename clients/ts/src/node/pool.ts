// A transport that opens another connection when one is full. A gateway allows 100 calls at once on a connection. Node would let the next
// call wait, and a hundred open watches would block every other call.
//
// Race: a gateway dies with calls under way. Node then ends their streams with the code CANCEL, as if the caller had cancelled. If the
// caller did not cancel, the connection is lost, and the call may be repeated.

import { Code, ConnectError, type Transport } from "@connectrpc/connect";

const CALLS_MAX = 90;

interface Member {
  readonly transport: Transport;
  calls: number;
}

/** `open` makes a transport with its own connection. */
export function pooled(open: () => Transport): Transport {
  const members: Member[] = [];
  const take = (): Member => {
    let member = members.find(({ calls }) => calls < CALLS_MAX);
    if (member === undefined) members.push((member = { transport: open(), calls: 0 }));
    member.calls += 1;
    return member;
  };
  return {
    async unary(...args) {
      const member = take();
      try {
        return await member.transport.unary(...args);
      } catch (error) {
        throw lostOr(error, args[1]);
      } finally {
        member.calls -= 1;
      }
    },
    async stream(...args) {
      const member = take();
      try {
        const answer = await member.transport.stream(...args);
        return { ...answer, message: counted(answer.message, member, args[1]) };
      } catch (error) {
        member.calls -= 1;
        throw lostOr(error, args[1]);
      }
    },
  };
}

/** Yields the same messages. The call is over after the last one. */
async function* counted<Message>(
  messages: AsyncIterable<Message>,
  member: Member,
  signal: AbortSignal | undefined,
): AsyncGenerator<Message> {
  try {
    yield* messages;
  } catch (error) {
    throw lostOr(error, signal);
  } finally {
    member.calls -= 1;
  }
}

/** The error. A lost connection if neither the caller nor the server cancelled. */
function lostOr(thrown: unknown, signal: AbortSignal | undefined): ConnectError {
  const error = ConnectError.from(thrown);
  const isCancelled = error.code === Code.Canceled && error.details.length === 0;
  if (!isCancelled || signal?.aborted === true) return error;
  return new ConnectError(
    `the connection was lost: ${error.rawMessage}`,
    Code.Unavailable,
    error.metadata,
    undefined,
    thrown,
  );
}

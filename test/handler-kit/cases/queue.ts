// The two numbered queues under cuts, repeats and gaps.

import { must } from "../broken-rule.ts";
import type { Case, Group } from "../case.ts";
import type { HostSession } from "../host-session.ts";
import { echo, invoke, invokeItem, type Kit, pings } from "../kit.ts";

const PIECES = ["a", "b", "c", "d", "e"];

/** Passes pieces on one by one until `count` have come. */
async function passOn(session: HostSession, invocationId: string, count: number): Promise<void> {
  for (let came = 1; came <= count; came += 1) {
    await session.items.until(
      () => (session.all("partial", invocationId).length >= came ? true : undefined),
      `${came} pieces`,
    );
    if (came < count || count === PIECES.length)
      session.send({ case: "streamed", value: { invocationId, count: came } });
  }
}

/** Streams five pieces with a window for one, and cuts the connection when `count` items have come. */
const cutAfter = (count: number): Case => ({
  name: `a cut after ${count} of 6 items loses nothing and doubles nothing`,
  rule: "Q5",
  run: async (kit) => {
    const session = await kit.open({ acknowledges: false, limits: { windowBytes: 1n } });
    const id = invoke(session, "kit.stream@1", { pieces: PIECES });
    await passOn(session, id, Math.min(count, PIECES.length));
    if (count > PIECES.length) await session.item("result", id);
    session.stream.call.cut();
    await kit.resume(session);
    await session.items.until(
      () => (session.repeats >= count ? true : undefined),
      `the ${count} items again, which the host had not confirmed`,
    );
    await passOn(session, id, PIECES.length);
    await session.item("result", id);
    const texts = session
      .all("partial", id)
      .map(({ piece }) => (piece.case === "text" ? piece.value : ""));
    must(texts.join("") === PIECES.join(""), PIECES.join(""), texts);
    await echo(session);
  },
});

/** A result that is made while no stream is open. */
const resultWhileCut = async (kit: Kit): Promise<void> => {
  const session = await kit.open();
  const id = invoke(session, "kit.stubborn@1", { name: "cut", ms: 150 });
  await session.item("partial", id);
  session.stream.call.cut();
  await kit.program.note("returned cut");
  await kit.resume(session);
  await session.item("result", id);
};

export const QUEUE: Group = {
  name: "queue",
  cases: [
    {
      name: "heard_seq comes within 100 ms without anything else to send",
      rule: "Q4",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.wait@1", { name: "heard" });
        // Ten times the promise, for a busy machine; the program has nothing else to send after the first piece.
        await session.item("partial", id);
        session.send({ case: "streamed", value: { invocationId: id, count: 1 } });
        await session.allHeard(1_000);
      },
    },
    cutAfter(1),
    cutAfter(3),
    cutAfter(6),
    {
      name: "a result that is made while the connection is down arrives after the resume",
      rule: "P5",
      run: resultWhileCut,
    },
    {
      name: "an unconfirmed Result is sent again with its old number",
      rule: "Q3",
      run: async (kit) => {
        const session = await kit.open({ acknowledges: false });
        const id = invoke(session, "kit.echo@1", '"kept"');
        await session.item("result", id);
        session.stream.call.cut();
        await kit.resume(session);
        await session.items.until(
          () => (session.repeats > 0 ? true : undefined),
          "the Result again: the host has not confirmed it",
        );
        session.acknowledge();
        await echo(session);
      },
    },
    {
      name: "a confirmed Result is not sent again",
      rule: "Q5",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session, "confirmed");
        session.stream.call.cut();
        await kit.resume(session);
        await echo(session);
        session.check();
        must(session.repeats === 0, "nothing again", session.repeats);
      },
    },
    {
      name: "a repeated Invoke runs once",
      rule: "Q6",
      run: async (kit) => {
        const session = await kit.open();
        const first = invoke(session, "kit.echo@1", '"once"');
        await session.item("result", first);
        session.sendFrom(1);
        await echo(session);
        must(session.all("result", first).length === 1, "one Result", session.items.things);
        session.check();
      },
    },
    {
      name: "of a message with old and new items only the new ones count",
      rule: "Q6",
      run: async (kit) => {
        const session = await kit.open();
        const first = invoke(session, "kit.echo@1", '"old"');
        await session.item("result", first);
        const { invocationId, item } = invokeItem("kit.echo@1", '"new"');
        session.keepBack(item);
        session.sendFrom(1);
        await session.item("result", invocationId);
        await echo(session);
        must(
          session.all("result", first).length === 1,
          "one Result of the old one",
          session.items.things,
        );
      },
    },
    {
      name: "an Invoke that was lost with its connection runs after the resume",
      rule: "Q5",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session);
        const { invocationId, item } = invokeItem("kit.echo@1", '"lost"');
        session.keepBack(item);
        session.stream.call.cut();
        await kit.resume(session);
        await session.item("result", invocationId);
      },
    },
    {
      name: "a gap closes the stream, and the process resumes with what it has",
      rule: "Q6",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session);
        const lost = invokeItem("kit.echo@1", '"lost"');
        const seen = invokeItem("kit.echo@1", '"seen"');
        session.keepBack(lost.item, seen.item);
        session.sendFrom(session.sentSeq);
        await session.stream.left("an end of the stream after a gap");
        await kit.resume(session);
        await session.item("result", lost.invocationId);
        await session.item("result", seen.invocationId);
        must(
          session.all("result", seen.invocationId).length === 1,
          "one Result",
          session.items.things,
        );
      },
    },
    {
      name: "Lost begins another session and cancels every function with claim_lost",
      rule: "P6",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.wait@1", { name: "lost" });
        await session.item("partial", id);
        session.stream.call.cut();
        const { stream, first } = await kit.accept();
        must(first.opening.case === "resume", "resume", first.opening);
        stream.write({ opening: { case: "lost", value: {} } });
        stream.call.end();
        await kit.program.note("cancelled lost claim_lost");
        const next = await kit.open();
        must(next.hello.sessionId !== session.hello.sessionId, "another session_id", next.hello);
        await echo(next);
        must(
          next.items.things.every(({ seq, item }) => seq > 0 && item.case === "result"),
          "nothing about the old session",
          next.items.things,
        );
      },
    },
    {
      name: "the same session survives five cuts in a row",
      rule: "P2",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session);
        for (let cuts = 0; cuts < 5; cuts += 1) {
          session.stream.call.cut();
          await kit.resume(session);
          await echo(session, cuts);
        }
      },
    },
    {
      name: "a stream that the host ends without an error is resumed too",
      rule: "P2",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session);
        session.stream.call.end();
        await kit.resume(session);
        await echo(session);
      },
    },
    {
      name: "Ping is answered with Pong while functions run",
      rule: "P1",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.stubborn@1", { name: "busy", ms: 1_000 });
        await session.item("partial", id);
        await pings(session, 1);
        must(session.all("result", id).length === 0, "Pong before the function returns", "Result");
        await session.item("result", id);
      },
    },
    {
      name: "a silent host is left after silence_ms, and the session resumes",
      rule: "P3",
      run: async (kit) => {
        const session = await kit.open({ silenceMs: 500 });
        await session.stream.left("an end of the stream of a silent host", 5_000);
        await kit.resume(session);
        await echo(session);
      },
    },
  ],
};

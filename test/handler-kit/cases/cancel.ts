// Cancel: it reaches the function, and afterwards only Ended is sent.

import { CancelReason } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { must } from "../broken-rule.ts";
import type { Case, Group } from "../case.ts";
import type { HostSession } from "../host-session.ts";
import { echo, invoke, SLOTS } from "../kit.ts";

/** Longer than a round trip takes; a time that is measured from the Invoke can only be too long on a busy machine. */
const STUBBORN_MS = 400;

/** How long a Cancel may take to reach a function. */
const CANCEL_MS = 100;
/** A busy machine may delay some cancels; a program that is slow delays all of them. */
const CANCELS = 9;

const cancel = (
  session: HostSession,
  invocationId: string,
  reason: CancelReason = CancelReason.CANCELLED,
) => session.send({ case: "cancel", value: { invocationId, reason } });

/** Everything that came about an invocation, as kinds in order. */
const kindsOf = (session: HostSession, id: string): readonly string[] =>
  session.items.things.flatMap(({ item }) =>
    item.case !== undefined && "invocationId" in item.value && item.value.invocationId === id
      ? [item.case]
      : [],
  );

const reaches = (reason: CancelReason, word: string): Case => ({
  name: `a Cancel reaches the function at once, with the reason ${word}`,
  rule: "P7",
  run: async (kit) => {
    const session = await kit.open();
    const id = invoke(session, "kit.wait@1", { name: `wait-${word}` });
    await session.item("partial", id);
    cancel(session, id, reason);
    await kit.program.note(`cancelled wait-${word} ${word}`);
    await session.item("ended", id);
    await echo(session);
    const kinds = kindsOf(session, id);
    must(kinds.join() === "partial,ended", "a piece, and Ended after the Cancel", kinds);
  },
});

export const CANCEL: Group = {
  name: "cancel",
  cases: [
    reaches(CancelReason.CANCELLED, "cancelled"),
    reaches(CancelReason.TIMEOUT, "timeout"),
    reaches(CancelReason.BLOCKED, "blocked"),
    {
      name: `a Cancel takes at most ${CANCEL_MS} ms to reach the function`,
      rule: "P7",
      run: async (kit) => {
        const session = await kit.open();
        const tookMs: number[] = [];
        for (let nth = 0; nth < CANCELS; nth += 1) {
          const id = invoke(session, "kit.wait@1", { name: `timed-${nth}` });
          await session.item("partial", id);
          const sentAt = performance.now();
          cancel(session, id);
          await kit.program.note(`cancelled timed-${nth} cancelled`);
          tookMs.push(performance.now() - sentAt);
          await session.item("ended", id);
        }
        const [best = Infinity, ...others] = tookMs.toSorted((a, b) => a - b);
        must(best <= CANCEL_MS, `the signal within ${CANCEL_MS} ms`, `${best.toFixed(1)} ms`);
        const median = others[Math.floor(CANCELS / 2) - 1] ?? best;
        return `from Cancel to signal: p50 ${median.toFixed(1)} ms, best ${best.toFixed(1)} ms`;
      },
    },
    {
      name: "Ended of a function that ignores its signal waits for its return",
      rule: "P7",
      run: async (kit) => {
        const session = await kit.open();
        const sentAt = performance.now();
        const id = invoke(session, "kit.stubborn@1", { name: "deaf", ms: STUBBORN_MS });
        await session.item("partial", id);
        cancel(session, id);
        await session.item("ended", id);
        const tookMs = performance.now() - sentAt;
        must(
          tookMs >= STUBBORN_MS,
          `Ended after ${STUBBORN_MS} ms, when the function returns`,
          `${tookMs} ms`,
        );
        await echo(session);
        must(
          kindsOf(session, id).join() === "partial,ended",
          "no late Result",
          kindsOf(session, id),
        );
      },
    },
    {
      name: "a cancelled function keeps its slot until it has returned",
      rule: "P9",
      run: async (kit) => {
        const session = await kit.open();
        const sentAt = performance.now();
        const ids = Array.from({ length: SLOTS }, (_, index) =>
          invoke(session, "kit.stubborn@1", { name: `slot-${index}`, ms: STUBBORN_MS }),
        );
        for (const id of ids) await session.item("partial", id);
        for (const id of ids) cancel(session, id);
        await echo(session);
        const tookMs = performance.now() - sentAt;
        must(
          tookMs >= STUBBORN_MS,
          `the next function after ${STUBBORN_MS} ms, when one has returned`,
          `${tookMs} ms`,
        );
        for (const id of ids) await session.item("ended", id);
      },
    },
    {
      name: "a Cancel of an invocation that waits for a slot ends it at once",
      rule: "P7",
      run: async (kit) => {
        const session = await kit.open();
        const ids = Array.from({ length: SLOTS }, (_, index) =>
          invoke(session, "kit.wait@1", { name: `taken-${index}` }),
        );
        for (const id of ids) await session.item("partial", id);
        const waiting = invoke(session, "kit.wait@1", { name: "never" });
        cancel(session, waiting);
        await session.item("ended", waiting);
        for (const id of ids) cancel(session, id);
        for (const id of ids) await session.item("ended", id);
        await echo(session);
        must(
          kindsOf(session, waiting).join() === "ended",
          "Ended alone",
          kindsOf(session, waiting),
        );
      },
    },
    {
      name: "a Cancel while emit waits for the window ends the function",
      rule: "P12",
      run: async (kit) => {
        const session = await kit.open({ limits: { windowBytes: 4n, partialBytes: 4n } });
        const id = invoke(session, "kit.stream@1", { pieces: ["aaaa", "bbbb", "cccc"] });
        await session.item("partial", id);
        cancel(session, id);
        await session.item("ended", id);
        await echo(session);
        must(
          kindsOf(session, id).join() === "partial,ended",
          "a piece and Ended",
          kindsOf(session, id),
        );
      },
    },
    {
      name: "a Cancel while an effect waits for its answer ends the function",
      rule: "P13",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.effect@1", { name: "never", class: "idempotent" });
        await session.item("effectBegin", id);
        cancel(session, id);
        await session.item("ended", id);
        session.send({ case: "effectBegun", value: { invocationId: id, name: "never", state: 1 } });
        await echo(session);
        must(
          !kit.program.notes.things.includes("made never"),
          "no effect after the Cancel",
          "made never",
        );
      },
    },
    {
      name: "a Cancel after the Result, and a Cancel of nothing, are ignored",
      rule: "Q8",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.echo@1", '"done"');
        await session.item("result", id);
        cancel(session, id);
        cancel(session, "inv-unknown");
        await echo(session);
        must(
          kindsOf(session, id).join() === "result",
          "nothing after the Result",
          kindsOf(session, id),
        );
      },
    },
    {
      name: "a second Cancel changes nothing",
      rule: "P7",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.wait@1", { name: "twice" });
        await session.item("partial", id);
        cancel(session, id);
        cancel(session, id, CancelReason.TIMEOUT);
        await session.item("ended", id);
        await echo(session);
        must(kindsOf(session, id).join() === "partial,ended", "one Ended", kindsOf(session, id));
      },
    },
  ],
};

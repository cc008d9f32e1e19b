// A process that freezes and thaws, and work that was given to it twice.

import { must } from "../broken-rule.ts";
import type { Group } from "../case.ts";
import { echo, invoke } from "../kit.ts";

export const ZOMBIE: Group = {
  name: "zombie",
  cases: [
    {
      name: "a process that freezes and thaws in time loses nothing",
      rule: "P5",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.stubborn@1", { name: "frozen", ms: 200 });
        await session.item("partial", id);
        kit.program.signal("SIGSTOP");
        const late = invoke(session, "kit.echo@1", '"while frozen"');
        session.send({ case: "ping", value: {} });
        kit.program.signal("SIGCONT");
        await session.item("pong", "");
        await session.item("result", id);
        await session.item("result", late);
      },
    },
    {
      name: "a process that was given up while it was frozen gets Lost and cancels its functions",
      rule: "P6",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.wait@1", { name: "given-up" });
        await session.item("partial", id);
        kit.program.signal("SIGSTOP");
        session.stream.call.cut();
        kit.program.signal("SIGCONT");
        // Kit.open answers Resume with Lost.
        const next = await kit.open();
        await kit.program.note("cancelled given-up claim_lost");
        await echo(next);
      },
    },
    {
      name: "an invocation with the effect key of a running one cancels it first",
      rule: "P8",
      run: async (kit) => {
        const session = await kit.open();
        const effectKey = "key-replaced";
        const older = invoke(session, "kit.wait@1", { name: "older" }, { effectKey });
        await session.item("partial", older);
        const newer = invoke(session, "kit.echo@1", '"newer"', { effectKey, attempt: 1 });
        await kit.program.note("cancelled older claim_lost");
        await session.item("result", newer);
        await session.item("ended", older);
        const order = session.items.things.flatMap(({ item }) =>
          item.case === "ended" || item.case === "result" ? [item.case] : [],
        );
        must(order.join() === "ended,result", "the older one ends, then the newer one runs", order);
      },
    },
    {
      name: "the newer one waits until the older function has returned",
      rule: "P8",
      run: async (kit) => {
        const session = await kit.open();
        const effectKey = "key-stubborn";
        const sentAt = performance.now();
        const older = invoke(session, "kit.stubborn@1", { name: "old", ms: 400 }, { effectKey });
        await session.item("partial", older);
        const newer = invoke(session, "kit.echo@1", '"newer"', { effectKey });
        await session.item("result", newer);
        const tookMs = performance.now() - sentAt;
        must(tookMs >= 400, "the newer one after 400 ms", `${tookMs} ms`);
        await session.item("ended", older);
        must(session.all("result", older).length === 0, "no Result of the older one", "Result");
      },
    },
    {
      name: "functions with different effect keys do not touch each other",
      rule: "P8",
      run: async (kit) => {
        const session = await kit.open();
        const one = invoke(session, "kit.wait@1", { name: "one" }, { effectKey: "key-one" });
        await session.item("partial", one);
        await echo(session);
        must(session.all("ended", one).length === 0, "the first one runs", "Ended");
        session.send({ case: "cancel", value: { invocationId: one, reason: 1 } });
        await session.item("ended", one);
      },
    },
    {
      name: "functions without an effect key do not touch each other",
      rule: "P8",
      run: async (kit) => {
        const session = await kit.open();
        const one = invoke(session, "kit.wait@1", { name: "keyless" }, { effectKey: "" });
        await session.item("partial", one);
        const two = invoke(session, "kit.echo@1", '"two"', { effectKey: "" });
        await session.item("result", two);
        must(session.all("ended", one).length === 0, "the first one runs", "Ended");
        session.send({ case: "cancel", value: { invocationId: one, reason: 1 } });
        await session.item("ended", one);
      },
    },
  ],
};

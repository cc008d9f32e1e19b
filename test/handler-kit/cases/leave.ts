// How a process leaves, and how it stays when the host does.

import { must } from "../broken-rule.ts";
import type { Group } from "../case.ts";
import { echo, invoke, pings } from "../kit.ts";

export const LEAVE: Group = {
  name: "leave",
  cases: [
    {
      name: "SIGTERM sends Leaving, finishes what runs and exits 0 when the host closes the stream",
      rule: "P16",
      program: "own",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.stubborn@1", { name: "last", ms: 300 });
        await session.item("partial", id);
        kit.program.signal("SIGTERM");
        await session.item("leaving", "");
        await session.item("result", id);
        must(!kit.program.hasExited, "a process that waits for the host", "an exit");
        session.stream.call.end();
        const { code } = await kit.program.exit("an exit after the stream was closed");
        must(code === 0, "the exit code 0", code);
      },
    },
    {
      name: "a leaving process answers Ping",
      rule: "P1",
      program: "own",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.wait@1", { name: "leaving" });
        await session.item("partial", id);
        kit.program.signal("SIGTERM");
        await session.item("leaving", "");
        await pings(session, 2);
        session.send({ case: "cancel", value: { invocationId: id, reason: 1 } });
        await session.item("ended", id);
        session.stream.call.end();
        await kit.program.exit("an exit after the stream was closed");
      },
    },
    {
      name: "a leaving process resumes after a cut to deliver its result",
      rule: "P16",
      program: "own",
      run: async (kit) => {
        const session = await kit.open({ resumeMs: 10_000 });
        const id = invoke(session, "kit.stubborn@1", { name: "cut-leave", ms: 300 });
        await session.item("partial", id);
        kit.program.signal("SIGTERM");
        await session.item("leaving", "");
        session.stream.call.cut();
        await kit.resume(session);
        await session.item("result", id);
        session.stream.call.end();
        const { code } = await kit.program.exit("an exit after the stream was closed");
        must(code === 0, "the exit code 0", code);
      },
    },
    {
      name: "an idle process exits within five seconds even if the host keeps the stream open",
      rule: "P16",
      program: "own",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session);
        kit.program.signal("SIGTERM");
        await session.item("leaving", "");
        await kit.program.exit("an exit of a process that has nothing left");
      },
    },
    {
      name: "a second signal exits at once",
      rule: "P16",
      program: "own",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.stubborn@1", { name: "long", ms: 20_000 });
        await session.item("partial", id);
        kit.program.signal("SIGTERM");
        await session.item("leaving", "");
        kit.program.signal("SIGTERM");
        await kit.program.exit("an exit after the second signal", 3_000);
      },
    },
    {
      name: "after Drain the process finishes what it has, and connects again",
      rule: "P2",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.stubborn@1", { name: "drained", ms: 200 });
        await session.item("partial", id);
        session.send({ case: "drain", value: {} });
        await session.item("result", id);
        await pings(session, 1);
        session.stream.call.end();
        await echo(await kit.open());
      },
    },
  ],
};

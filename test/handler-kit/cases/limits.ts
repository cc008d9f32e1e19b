// The limits of Welcome: the process checks before it sends.

import { must } from "../broken-rule.ts";
import type { Group } from "../case.ts";
import { echo, invoke, SLOTS } from "../kit.ts";

const bytesIn = (text: string): number => Buffer.byteLength(text);

export const LIMITS: Group = {
  name: "limits",
  cases: [
    {
      name: "an output of exactly output_bytes is a Result",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open({ limits: { outputBytes: 1_002n } });
        const { outputJson } = await session.item(
          "result",
          invoke(session, "kit.big@1", { bytes: 1_000 }),
        );
        must(bytesIn(outputJson) === 1_002, "1002 bytes", bytesIn(outputJson));
      },
    },
    {
      name: "an output above output_bytes is output_too_large with both sizes",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open({ limits: { outputBytes: 1_001n } });
        const failure = await session.item(
          "failure",
          invoke(session, "kit.big@1", { bytes: 1_000 }),
        );
        must(
          failure.cause === "output_too_large" && failure.permanent,
          "a permanent output_too_large",
          failure,
        );
        must(
          /1,?002/.test(failure.message) && /1,?001/.test(failure.message),
          "both sizes",
          failure.message,
        );
        await echo(session);
      },
    },
    {
      name: "many large results travel in messages of at most message_bytes",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open({ limits: { outputBytes: 40_000n, messageBytes: 65_536n } });
        const ids = Array.from({ length: SLOTS }, () =>
          invoke(session, "kit.big@1", { bytes: 39_000 }),
        );
        for (const id of ids) await session.item("result", id);
        session.check();
      },
    },
    {
      name: "a failure is cut to failure_bytes",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open({ limits: { failureBytes: 500n } });
        const id = invoke(session, "kit.fail@1", { mode: "throw", message: "é".repeat(5_000) });
        const { message, detailsJson } = await session.item("failure", id);
        const bytes = bytesIn(message) + bytesIn(detailsJson);
        must(bytes <= 500 && message !== "", "at most 500 bytes of message and details", bytes);
        must(!message.includes("\ufffd"), "a cut between characters", message.slice(-5));
        if (detailsJson !== "") JSON.parse(detailsJson);
      },
    },
    {
      name: "a log line is cut to log_bytes",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open({ limits: { logBytes: 100n } });
        const lines = [{ level: "info", message: "漢".repeat(200) }];
        const id = invoke(session, "kit.log@1", { lines });
        await session.item("result", id);
        const { message } = await session.item("log", id);
        must(bytesIn(message) <= 100 && message.startsWith("漢"), "at most 100 bytes", message);
        must(!message.includes("\ufffd"), "a cut between characters", message.slice(-5));
      },
    },
    {
      name: "log lines above log_lines are dropped, and the last one says so",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open({ limits: { logLines: 3 } });
        const lines = Array.from({ length: 9 }, (_, index) => ({
          level: "info",
          message: `${index}`,
        }));
        const id = invoke(session, "kit.log@1", { lines });
        await session.item("result", id);
        const messages = session.all("log", id).map(({ message }) => message);
        must(messages.length === 3, "three lines", messages);
        must(messages[0] === "0" && messages[1] === "1", "the first lines as they are", messages);
        must(/drop/i.test(messages[2] ?? ""), 'a last line with the word "dropped"', messages[2]);
      },
    },
    {
      name: "the limits of the newest Welcome count",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session);
        session.limits.outputBytes = 10n;
        session.stream.call.cut();
        await kit.resume(session);
        const failure = await session.item("failure", invoke(session, "kit.big@1", { bytes: 100 }));
        must(failure.cause === "output_too_large", "output_too_large", failure);
      },
    },
  ],
};

// Partial output and log lines: order, cutting and the window.

import { LogLevel } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { must } from "../broken-rule.ts";
import type { Group } from "../case.ts";
import type { HostSession } from "../host-session.ts";
import { echo, invoke } from "../kit.ts";

const textsOf = (session: HostSession, id: string): readonly string[] =>
  session.all("partial", id).map(({ piece }) => (piece.case === "text" ? piece.value : ""));

const bytesIn = (text: string): number => Buffer.byteLength(text);

export const STREAM: Group = {
  name: "stream",
  cases: [
    {
      name: "pieces come in order, before the Result",
      rule: "Q2",
      run: async (kit) => {
        const session = await kit.open();
        const pieces = Array.from({ length: 50 }, (_, index) => `piece ${index};`);
        const id = invoke(session, "kit.stream@1", { pieces });
        const { outputJson } = await session.item("result", id);
        must(outputJson.replace(/\s/g, "") === '{"count":50}', '{"count":50}', outputJson);
        must(
          textsOf(session, id).join("") === pieces.join(""),
          "50 pieces in order",
          textsOf(session, id),
        );
        must(
          session.items.things.at(-1)?.item.case === "result",
          "the Result last",
          session.items.things.at(-1),
        );
      },
    },
    {
      name: "a piece above partial_bytes is cut between characters",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open({ limits: { partialBytes: 10n } });
        const piece = "aé漢😀".repeat(8);
        const id = invoke(session, "kit.stream@1", { pieces: [piece] });
        await session.item("result", id);
        const texts = textsOf(session, id);
        must(texts.join("") === piece, piece, texts);
        must(
          texts.every((text) => bytesIn(text) <= 10),
          "at most 10 bytes each",
          texts,
        );
      },
    },
    {
      name: "emit waits while window_bytes are under way, and Streamed frees them",
      rule: "P12",
      run: async (kit) => {
        const session = await kit.open({ limits: { windowBytes: 40n, partialBytes: 10n } });
        const pieces = Array.from({ length: 20 }, () => "x".repeat(10));
        const id = invoke(session, "kit.stream@1", { pieces });
        const count = (): number => textsOf(session, id).length;
        for (let passed = 0; passed < pieces.length;) {
          const wanted = Math.min(pieces.length, passed + 4);
          await session.items.until(
            () => (count() >= wanted ? true : undefined),
            `${wanted} pieces`,
          );
          await echo(session);
          must(count() === wanted, `${wanted} pieces with ${passed} passed on`, count());
          passed = wanted;
          session.send({ case: "streamed", value: { invocationId: id, count: passed } });
        }
        await session.item("result", id);
      },
    },
    {
      name: "with nothing under way a piece larger than the window is sent",
      rule: "P12",
      run: async (kit) => {
        const session = await kit.open({ limits: { windowBytes: 4n, partialBytes: 100n } });
        const id = invoke(session, "kit.stream@1", { pieces: ["larger than the window"] });
        await session.item("result", id);
        must(
          textsOf(session, id).join("") === "larger than the window",
          "the piece",
          textsOf(session, id),
        );
      },
    },
    {
      name: "the window of one invocation does not hold another",
      rule: "P12",
      run: async (kit) => {
        const session = await kit.open({ limits: { windowBytes: 4n, partialBytes: 4n } });
        const held = invoke(session, "kit.stream@1", { pieces: ["aaaa", "bbbb"] });
        await session.item("partial", held);
        const free = invoke(session, "kit.stream@1", { pieces: ["cccc"] });
        await session.item("result", free);
        session.send({ case: "streamed", value: { invocationId: held, count: 2 } });
        await session.item("result", held);
      },
    },
    {
      name: "log lines keep their level and order",
      rule: "Q2",
      run: async (kit) => {
        const session = await kit.open();
        const levels = ["debug", "info", "warn", "error"];
        const lines = levels.map((level) => ({ level, message: `a ${level} line` }));
        const id = invoke(session, "kit.log@1", { lines });
        await session.item("result", id);
        const came = session.all("log", id).map(({ level, message }) => `${level} ${message}`);
        const expected = [LogLevel.DEBUG, LogLevel.INFO, LogLevel.WARN, LogLevel.ERROR].map(
          (level, index) => `${level} a ${levels[index]} line`,
        );
        must(came.join() === expected.join(), expected.join(), came);
      },
    },
  ],
};

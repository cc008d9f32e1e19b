// The effect ledger: what the process does for each answer of the host.

import { EffectClass, EffectState } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { must } from "../broken-rule.ts";
import type { Case, Group } from "../case.ts";
import type { HostSession } from "../host-session.ts";
import { echo, invoke, type Kit } from "../kit.ts";

const CLASSES = {
  transactional: EffectClass.TRANSACTIONAL,
  idempotent: EffectClass.IDEMPOTENT,
  at_most_once: EffectClass.AT_MOST_ONCE,
} as const;
type Word = keyof typeof CLASSES;

let effects = 0;

/** Begins an effect with a name of its own, and answers its EffectBegin. */
async function begin(session: HostSession, word: Word, state: EffectState, resultJson = "") {
  effects += 1;
  const name = `effect-${effects}`;
  const invocationId = invoke(session, "kit.effect@1", { name, class: word });
  const asked = await session.item("effectBegin", invocationId);
  must(
    asked.name === name && asked.effectClass === CLASSES[word],
    `EffectBegin of ${name}, ${word}`,
    asked,
  );
  session.send({ case: "effectBegun", value: { invocationId, name, state, resultJson } });
  return { invocationId, name };
}

const wasMade = (kit: Kit, name: string): boolean =>
  kit.program.notes.things.includes(`made ${name}`);

const made = (word: Word, state: EffectState, title: string): Case => ({
  name: title,
  rule: "P13",
  run: async (kit) => {
    const session = await kit.open();
    const { invocationId, name } = await begin(session, word, state);
    await kit.program.note(`made ${name}`);
    const { resultJson } = await session.item("effectCommit", invocationId);
    must(resultJson.replace(/\s/g, "") === `{"made":"${name}"}`, `{"made":"${name}"}`, resultJson);
    session.send({
      case: "effectCommitted",
      value: { invocationId, name, state: EffectState.COMMITTED },
    });
    const { outputJson } = await session.item("result", invocationId);
    must(
      outputJson.replace(/\s/g, "") === `{"result":{"made":"${name}"}}`,
      "the result of the effect",
      outputJson,
    );
  },
});

export const EFFECTS: Group = {
  name: "effects",
  cases: [
    made("transactional", EffectState.NEW, "NEW: a transactional effect is made and committed"),
    made(
      "at_most_once",
      EffectState.NEW,
      "NEW: an effect that may happen at most once is made and committed",
    ),
    made(
      "idempotent",
      EffectState.BEGUN_BEFORE,
      "BEGUN_BEFORE: an idempotent effect is made again",
    ),
    made(
      "transactional",
      EffectState.BEGUN_BEFORE,
      "BEGUN_BEFORE: a transactional effect is made again",
    ),
    {
      name: "BEGUN_BEFORE: an effect that may happen at most once fails with effect_unknown",
      rule: "P13",
      run: async (kit) => {
        const session = await kit.open();
        const { invocationId, name } = await begin(
          session,
          "at_most_once",
          EffectState.BEGUN_BEFORE,
        );
        const failure = await session.item("failure", invocationId);
        must(
          failure.cause === "effect_unknown" && failure.permanent,
          "a permanent effect_unknown",
          failure,
        );
        must(!wasMade(kit, name), "no effect", `made ${name}`);
      },
    },
    {
      name: "COMMITTED: the recorded result is used and nothing is made",
      rule: "P13",
      run: async (kit) => {
        const session = await kit.open();
        const { invocationId, name } = await begin(
          session,
          "idempotent",
          EffectState.COMMITTED,
          '{"old":1}',
        );
        const { outputJson } = await session.item("result", invocationId);
        must(
          outputJson.replace(/\s/g, "") === '{"result":{"old":1}}',
          "the recorded result",
          outputJson,
        );
        must(!wasMade(kit, name), "no effect", `made ${name}`);
        must(
          session.all("effectCommit", invocationId).length === 0,
          "no EffectCommit",
          "EffectCommit",
        );
      },
    },
    {
      name: "REFUSED: nothing is made, and the invocation fails",
      rule: "P13",
      run: async (kit) => {
        const session = await kit.open();
        const { invocationId, name } = await begin(session, "idempotent", EffectState.REFUSED);
        await session.item("failure", invocationId);
        must(!wasMade(kit, name), "no effect", `made ${name}`);
      },
    },
    {
      name: "REVOKED: nothing is made, and the invocation ends as a cancelled one",
      rule: "P13",
      run: async (kit) => {
        const session = await kit.open();
        const { invocationId, name } = await begin(session, "idempotent", EffectState.REVOKED);
        await session.item("ended", invocationId);
        await echo(session);
        must(!wasMade(kit, name), "no effect", `made ${name}`);
        must(session.all("failure", invocationId).length === 0, "Ended alone", "Failure");
      },
    },
    {
      name: "EffectCommit comes before the Result",
      rule: "P14",
      run: async (kit) => {
        const session = await kit.open();
        const { invocationId, name } = await begin(session, "transactional", EffectState.NEW);
        await session.item("effectCommit", invocationId);
        session.send({
          case: "effectCommitted",
          value: { invocationId, name, state: EffectState.COMMITTED },
        });
        await session.item("result", invocationId);
        const kinds = session.items.things.map(({ item }) => item.case);
        must(
          kinds.indexOf("effectCommit") < kinds.indexOf("result"),
          "EffectCommit, then Result",
          kinds,
        );
      },
    },
    {
      name: "an EffectBegin that a cut took with it is asked again, and answered once",
      rule: "Q5",
      run: async (kit) => {
        const session = await kit.open({ acknowledges: false });
        const name = "effect-cut";
        const invocationId = invoke(session, "kit.effect@1", { name, class: "idempotent" });
        await session.item("effectBegin", invocationId);
        session.stream.call.cut();
        await kit.resume(session);
        session.send({
          case: "effectBegun",
          value: { invocationId, name, state: EffectState.NEW },
        });
        await session.item("effectCommit", invocationId);
        session.send({
          case: "effectCommitted",
          value: { invocationId, name, state: EffectState.COMMITTED },
        });
        await session.item("result", invocationId);
        // Standard output and the stream are two ways: the note may come last.
        await kit.program.note(`made ${name}`);
        const notes = kit.program.notes.things.filter((note) => note === `made ${name}`);
        must(notes.length === 1, "one effect", notes.length);
      },
    },
  ],
};

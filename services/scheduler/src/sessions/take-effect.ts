// Submits an executor's reports about effects to the tick. A report that names an impossible effect is refused at once and never reaches
// the ledger.

import { checkJson } from "@pawl/core/data/json";
import { isName } from "@pawl/core/name/ids";
import type { EffectClass } from "@pawl/core/policy/effect";
import {
  type EffectBegin,
  EffectClass as WireClass,
  type EffectCommit,
  EffectState,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { EffectStanding } from "@pawl/core/policy/effect";
import { wireClaim } from "../hand-off/assignment.ts";
import { answered, type ReportParts, enter } from "./fence.ts";
import type { Session } from "./session.ts";
import { decode } from "./wire.ts";

const CLASSES: ReadonlyMap<WireClass, EffectClass> = new Map([
  [WireClass.TRANSACTIONAL, "transactional"],
  [WireClass.IDEMPOTENT, "idempotent"],
  [WireClass.AT_MOST_ONCE, "at_most_once"],
]);
const STATES: Readonly<Record<EffectStanding["state"], EffectState>> = {
  new: EffectState.NEW,
  begun_before: EffectState.BEGUN_BEFORE,
  committed: EffectState.COMMITTED,
};

export function takeEffectBegin(parts: ReportParts, session: Session, wire: EffectBegin): void {
  const { name } = wire;
  const what = `the beginning of effect ${name}`;
  enter(session, wire.claim, what, (claim) => {
    const begun = (answer: {
      readonly state: EffectState;
      readonly resultJson?: Uint8Array;
    }): void => {
      const value = { claim: wireClaim(claim), name, ...answer };
      session.send({ item: { case: "effectBegun", value } });
    };
    const effectClass = CLASSES.get(wire.class);
    if (effectClass === undefined || !isName(name)) return begun({ state: EffectState.REFUSED });
    parts.loop.submit({
      kind: "begin_effect",
      effect: { ...claim, name, class: effectClass },
      answer: answered<EffectStanding>(parts, session, claim, {
        what,
        onHeld: (standing) =>
          begun({
            state: STATES[standing.state],
            ...(standing.state === "committed"
              ? { resultJson: Buffer.from(standing.resultJson) }
              : {}),
          }),
      }),
    });
  });
}

export function takeEffectCommit(parts: ReportParts, session: Session, wire: EffectCommit): void {
  const { name } = wire;
  const what = `the result of effect ${name}`;
  enter(session, wire.claim, what, (claim) => {
    const committed = (state: EffectState): void => {
      const value = { claim: wireClaim(claim), name, state };
      session.send({ item: { case: "effectCommitted", value } });
    };
    const resultJson = wire.resultJson.length === 0 ? "null" : decode(wire.resultJson);
    if (resultJson === undefined || !isName(name) || !checkJson(resultJson).ok)
      return committed(EffectState.REFUSED);
    parts.loop.submit({
      kind: "commit_effect",
      effect: { ...claim, name, resultJson },
      answer: answered<"committed" | "not_begun">(parts, session, claim, {
        what,
        onHeld: (result) =>
          committed(result === "committed" ? EffectState.COMMITTED : EffectState.REFUSED),
      }),
    });
  });
}

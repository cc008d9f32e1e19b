// Sends the answer to an approval, and holds what was wrong with it. The same request id goes with the same answer until the server
// has taken it, so that a repeat after a lost reply is harmless.

import { useRef, useState } from "react";
import { answerApproval } from "../api/gateway.ts";
import { readFault } from "../api/fault.ts";
import type { Fault } from "../api/fault.ts";
import { freshRequestId } from "../api/request-id.ts";
import type { Faults } from "../form/draft.ts";
import type { Field } from "../form/field.ts";
import { placeViolations } from "../form/server-faults.ts";

export interface Answer {
  readonly decision: "approve" | "reject";
  readonly responseJson: string | undefined;
  readonly comment: string;
  readonly decidedBy: string;
}

export interface Answering {
  /** The decision on its way, or taken. */
  readonly busy: Answer["decision"] | undefined;
  /** What is wrong at which field, and what is wrong besides. */
  readonly faults: Faults;
  readonly fault: Fault | undefined;
  readonly setFaults: (faults: Faults) => void;
  /** Never rejects: what the server says is kept in `faults` and `fault`. */
  readonly send: (answer: Answer) => Promise<void>;
}

/** The sending of one form's answer. */
export function useAnswer(approvalId: string, field: Field): Answering {
  const [busy, setBusy] = useState<Answer["decision"]>();
  const [faults, setFaults] = useState<Faults>({});
  const [fault, setFault] = useState<Fault>();
  const request = useRef({ answer: "", id: "" });
  const send = async (answer: Answer): Promise<void> => {
    const text = JSON.stringify(answer);
    if (request.current.answer !== text) request.current = { answer: text, id: freshRequestId() };
    setBusy(answer.decision);
    setFaults({});
    setFault(undefined);
    try {
      await answerApproval(approvalId, { ...answer, requestId: request.current.id });
    } catch (error) {
      const said = readFault(error);
      const placed = placeViolations(field, said.violations);
      const isPlaced = said.violations.length > 0 && placed.others.length === 0;
      setFaults(placed.faults);
      setFault(isPlaced ? undefined : said);
      setBusy(undefined);
    }
  };
  return { busy, faults, fault, setFaults, send };
}

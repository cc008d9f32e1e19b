// The form of an open approval: the fields of its response, a comment and a name. The console sends the same request id with the same
// answer until the server has accepted it. So a repeat after a lost answer is harmless.

import type { Approval } from "@pawl/proto/pawl/v1/approval_pb";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import {
  type Draft,
  type Faults,
  initialDraft,
  placeViolations,
  readDraft,
} from "../form/draft.ts";
import { type Field, readField } from "../form/field.ts";
import { SchemaForm } from "../form/schema-form.tsx";
import { FaultBox } from "../ui/fault-box.tsx";
import { freshRequestId, jsonTextOf } from "@pawl/client";
import { type Fault, readFault } from "../api/fault.ts";
import { writes } from "../api/gateway.ts";
import { submitting } from "../ui/browser-hooks.ts";
import { parseJson } from "../ui/json-text.ts";

const WORDS_LENGTH_MAX = 200;

/** Draws the form and sends the answer. The panel removes it when the approval is no longer open. */
export function AnswerForm({ approval }: { readonly approval: Approval }): ReactNode {
  const schema = jsonTextOf(approval.responseSchemaJson);
  const field = useMemo(
    () => readField(schema === undefined ? undefined : parseJson(schema)),
    [schema],
  );
  const [draft, setDraft] = useState<Draft>(() => initialDraft(field));
  const [comment, setComment] = useState("");
  const [name, setName] = useState(readName);
  const answering = useAnswer(approval.approvalId, field);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const focused = document.activeElement?.getAttribute("aria-invalid");
    if (focused !== "true")
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [answering.faults]);
  const send = (decision: Answer["decision"], responseJson: string | undefined): void => {
    keepName(name.trim());
    const words = { comment: comment.trim(), decidedBy: name.trim() };
    void answering.send({ decision, responseJson, ...words }); // never rejects
  };
  const approve = (): void => {
    const read = readDraft(field, draft);
    if (!read.ok) return answering.setFaults(read.faults);
    send("approve", read.value === undefined ? undefined : JSON.stringify(read.value));
  };
  const change = (key: string, entered: Draft[string]): void => {
    setDraft((before) => ({ ...before, [key]: entered }));
    const { [key]: _mended, ...others } = answering.faults;
    if (key in answering.faults) answering.setFaults(others);
  };
  return (
    <form
      ref={form}
      className="answer"
      noValidate
      aria-label="Answer"
      onSubmit={submitting(approve)}
    >
      <SchemaForm field={field} draft={draft} faults={answering.faults} onChange={change} />
      <Words label="Comment" value={comment} onChange={setComment} />
      <Words label="Your name" value={name} onChange={setName} />
      <FaultBox fault={answering.fault} />
      <Actions busy={answering.busy} onReject={() => send("reject", undefined)} />
    </form>
  );
}

interface ActionsProps {
  readonly busy: Answer["decision"] | undefined;
  readonly onReject: () => void;
}

function Actions({ busy, onReject }: ActionsProps): ReactNode {
  const isBusy = busy !== undefined;
  return (
    <div className="dialog-actions">
      <button type="button" className="danger" disabled={isBusy} onClick={onReject}>
        {busy === "reject" ? "Rejecting…" : "Reject"}
      </button>
      <button type="submit" className="primary" disabled={isBusy}>
        {busy === "approve" ? "Approving…" : "Approve"}
      </button>
    </div>
  );
}

interface WordsProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Words({ label, value, onChange }: WordsProps): ReactNode {
  return (
    <div className="form-field">
      <label>
        {label} <span className="form-mark">optional</span>
        <input
          type="text"
          maxLength={WORDS_LENGTH_MAX}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      </label>
    </div>
  );
}

interface Answer {
  readonly decision: "approve" | "reject";
  readonly responseJson: string | undefined;
  readonly comment: string;
  readonly decidedBy: string;
}

/** Sends the answer. `busy` is the decision that is sent or accepted. `faults` are by field, and `fault` belongs to no field. */
function useAnswer(approvalId: string, field: Field) {
  const [busy, setBusy] = useState<Answer["decision"]>();
  const [faults, setFaults] = useState<Faults>({});
  const [fault, setFault] = useState<Fault>();
  const request = useRef({ answer: "", id: "" });
  /** Never rejects. Errors become faults. */
  const send = async (answer: Answer): Promise<void> => {
    const { decision, ...rest } = answer;
    const text = JSON.stringify(answer);
    if (request.current.answer !== text) request.current = { answer: text, id: freshRequestId() };
    setBusy(decision);
    setFaults({});
    setFault(undefined);
    try {
      await writes.approvals[decision](approvalId, { ...rest, requestId: request.current.id });
    } catch (error) {
      const found = readFault(error);
      const placed = placeViolations(field, found.violations);
      const isPlaced = found.violations.length > 0 && placed.others.length === 0;
      setFaults(placed.faults);
      setFault(isPlaced ? undefined : found);
      setBusy(undefined);
    }
  };
  return { busy, faults, fault, setFaults, send };
}

const NAME_KEY = "pawl.answers-as";

/** The name that the reader gave before. Empty when this browser has none. */
function readName(): string {
  try {
    return localStorage.getItem(NAME_KEY) ?? "";
  } catch {
    return "";
  }
}

/** Stores a name for the next answer. */
function keepName(name: string): void {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    // A browser without storage asks for the name again.
  }
}

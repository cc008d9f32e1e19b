// The form of an open approval: the fields of its response, a comment and a name.

import type { Approval } from "@pawl/proto/pawl/v1/approval_pb";
import type { ReactNode } from "react";
import { useEffect, useMemo, useRef, useState } from "react";
import { initialDraft, readDraft } from "../form/draft.ts";
import type { Draft } from "../form/draft.ts";
import { readField } from "../form/field.ts";
import { SchemaForm } from "../form/schema-form.tsx";
import { FaultBox } from "../ui/fault-box.tsx";
import { jsonText, parseJson } from "../ui/json-text.ts";
import { keepName, readName } from "./own-name.ts";
import { useAnswer } from "./use-answer.ts";
import type { Answer, Answering } from "./use-answer.ts";

const WORDS_LENGTH_MAX = 200;

/** Draws the form and sends the answer. It goes when the approval is no longer open. */
export function AnswerForm({ approval }: { readonly approval: Approval }): ReactNode {
  const schemaText = jsonText(approval.responseSchemaJson);
  const field = useMemo(
    () => readField(schemaText === "" ? undefined : parseJson(schemaText)),
    [schemaText],
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
      onSubmit={(event) => {
        event.preventDefault();
        approve();
      }}
    >
      <SchemaForm field={field} draft={draft} faults={answering.faults} onChange={change} />
      <Words label="Comment" value={comment} onChange={setComment} />
      <Words label="Your name" value={name} onChange={setName} />
      {answering.fault !== undefined && <FaultBox fault={answering.fault} />}
      <Actions busy={answering.busy} onReject={() => send("reject", undefined)} />
    </form>
  );
}

interface ActionsProps extends Pick<Answering, "busy"> {
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

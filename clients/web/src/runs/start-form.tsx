// Starts a run of one workflow, with an input if the reader gives one. A repeat after a lost answer is harmless: the same
// request id goes with the same input until it was accepted.

import type { ReactNode } from "react";
import { useRef, useState } from "react";
import { getWorkflow, startRun } from "../api/gateway.ts";
import { freshRequestId } from "../api/request-id.ts";
import { readFault } from "../api/fault.ts";
import type { Fault } from "../api/fault.ts";
import { runPath } from "../route.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { jsonText, parseJson } from "../ui/json-text.ts";
import { navigate } from "../ui/navigate.ts";
import { sampleInput } from "../workflows/sample-input.ts";

const NO_INPUT: Fault = {
  reason: "INPUT_INVALID",
  message: "The input is no JSON.",
  next: 'Write JSON, such as {"name": "Ada"}, or leave it empty.',
  violations: [],
  retryable: false,
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const SAMPLE_MS = 5_000;

/** The sample input of a workflow; none when it cannot be read, since the reader can write one. */
async function readSample(workflowId: string): Promise<string> {
  try {
    const { definitionJson } = await getWorkflow(workflowId, AbortSignal.timeout(SAMPLE_MS));
    return sampleInput(parseJson(jsonText(definitionJson)));
  } catch {
    return "";
  }
}

/** The start button of a workflow, with its input. */
export function StartForm({ workflowId }: { readonly workflowId: string }): ReactNode {
  const [open, setOpen] = useState(false);
  const [input, setInput] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const request = useRef({ input: "", id: "" });
  const start = async (): Promise<void> => {
    const text = input.trim();
    if (text !== "" && !isJson(text)) return setFault(NO_INPUT);
    if (request.current.id === "" || request.current.input !== text) {
      request.current = { input: text, id: freshRequestId() };
    }
    setBusy(true);
    setFault(undefined);
    try {
      const runId = await startRun(workflowId, text, request.current.id);
      request.current.id = "";
      navigate(runPath(runId));
    } catch (error) {
      setFault(readFault(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="start-form"
      onSubmit={(event) => {
        event.preventDefault();
        void start(); // never rejects: a fault is shown
      }}
    >
      <div className="start-actions">
        <button type="submit" className="primary" disabled={busy} data-start={workflowId}>
          {busy ? "Starting…" : "Start"}
        </button>
        <button
          type="button"
          className="quiet"
          aria-expanded={open}
          onClick={() => {
            setOpen(!open);
            setInput("");
            if (open) return;
            // Never rejects. What the reader wrote in the meantime stands.
            void readSample(workflowId).then((sample) => setInput((text) => text || sample));
          }}
        >
          {open ? "Without input" : "With input…"}
        </button>
      </div>
      {open && (
        <textarea
          aria-label={`Input of ${workflowId} as JSON`}
          rows={6}
          spellCheck={false}
          placeholder='{"name": "Ada"}'
          value={input}
          onChange={(event) => setInput(event.target.value)}
        />
      )}
      {fault !== undefined && <FaultBox fault={fault} />}
    </form>
  );
}

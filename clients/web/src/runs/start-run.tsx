// Starts a run: the form of one workflow, and the panel and the dialog with all workflows. The console sends the same request id with the
// same input until the server has accepted it. So a repeat after a lost answer is harmless.

import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import { type ReactNode, useRef, useState } from "react";
import { runPath, workflowPath } from "../route.ts";
import { Link, navigate } from "../ui/navigate.tsx";
import { useAction } from "../api/action.ts";
import type { Fault } from "../api/fault.ts";
import { reads, writes } from "../api/gateway.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { submitting } from "../ui/browser-hooks.ts";
import { isJson } from "../ui/json-text.ts";
import { freshRequestId, jsonOf, sampleInputOf } from "@pawl/client";

/** Cards of workflows with a start button each. */
export function StartPanel({ workflows }: { readonly workflows: readonly Workflow[] }): ReactNode {
  return (
    <aside className="start-panel" aria-label="Start a workflow">
      <h2>Start a workflow</h2>
      {workflows.length === 0 && <NoWorkflows />}
      <ul>
        {workflows.map((workflow) => (
          <li key={workflow.workflowId} className="card">
            <Link to={workflowPath(workflow.workflowId)} className="card-title">
              {workflow.title === "" ? workflow.workflowId : workflow.title}
            </Link>
            <p className="card-note">
              <span className="mono">{workflow.workflowId}</span> · {workflow.nodeCount} nodes
            </p>
            <StartForm workflowId={workflow.workflowId} />
          </li>
        ))}
      </ul>
    </aside>
  );
}

/** The next step when no workflow is saved yet. */
export function NoWorkflows(): ReactNode {
  return (
    <div className="empty">
      <p>No workflow is saved yet. Save one from a file:</p>
      <pre>./pawl workflow apply -f hello.yaml</pre>
    </div>
  );
}

/** A button, and the cards it opens. */
export function StartDialog({ workflows }: { readonly workflows: readonly Workflow[] }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" className="primary" onClick={() => dialog.current?.showModal()}>
        Start a workflow
      </button>
      <dialog ref={dialog} className="start-dialog" aria-label="Start a workflow">
        <button
          type="button"
          className="quiet close"
          aria-label="Close"
          onClick={() => dialog.current?.close()}
        >
          ✕
        </button>
        <StartPanel workflows={workflows} />
      </dialog>
    </>
  );
}

const NO_INPUT: Fault = {
  reason: "INPUT_INVALID",
  message: "The input is no JSON.",
  next: 'Write JSON, such as {"name": "Ada"}, or leave it empty.',
  violations: [],
  retryable: false,
};

const SAMPLE_MS = 5_000;

/** The sample input of a workflow as JSON text to edit. Empty if it has none, or if it cannot be read. */
async function readSample(workflowId: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(SAMPLE_MS);
    const { definitionJson } = await reads.workflows.get(workflowId, { signal });
    return JSON.stringify(sampleInputOf(jsonOf(definitionJson)), null, 2) ?? "";
  } catch {
    return "";
  }
}

/** The start button of a workflow, with its input. */
export function StartForm({ workflowId }: { readonly workflowId: string }): ReactNode {
  const [open, setOpen] = useState(false);
  const [input, setInput] = useState("");
  const { isBusy, fault, setFault, act } = useAction();
  const request = useRef({ input: "", id: "" });
  const start = async (): Promise<void> => {
    const text = input.trim();
    if (text !== "" && !isJson(text)) return setFault(NO_INPUT);
    if (request.current.id === "" || request.current.input !== text) {
      request.current = { input: text, id: freshRequestId() };
    }
    const options = { requestId: request.current.id, ...(text === "" ? {} : { inputJson: text }) };
    await act(async () => {
      const { run } = await writes.runs.start(workflowId, options);
      request.current.id = "";
      navigate(runPath(run.runId));
    });
  };
  return (
    <form className="start-form" onSubmit={submitting(() => void start())}>
      <div className="start-actions">
        <button type="submit" className="primary" disabled={isBusy} data-start={workflowId}>
          {isBusy ? "Starting…" : "Start"}
        </button>
        <button
          type="button"
          className="quiet"
          aria-expanded={open}
          onClick={() => {
            setOpen(!open);
            setInput("");
            if (open) return;
            // Never rejects. Text that the reader wrote in the meantime stays.
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
      <FaultBox fault={fault} />
    </form>
  );
}

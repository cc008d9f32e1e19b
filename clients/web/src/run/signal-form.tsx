// A node that waits for a signal: its name, the remaining time, and a form to send it. The console sends the same request id with the same
// payload until the server has accepted it. So a repeat after a lost answer is harmless.

import { freshRequestId } from "@pawl/client";
import type { NodeView } from "@pawl/core/log/view";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { useAction } from "../api/action.ts";
import { writes } from "../api/gateway.ts";
import { type Draft, type Faults, initialDraft, readDraft } from "../form/draft.ts";
import { readField } from "../form/field.ts";
import { SchemaForm } from "../form/schema-form.tsx";
import { submitting, useNow } from "../ui/browser-hooks.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { parseJson } from "../ui/json-text.ts";
import { formatDuration, formatTime } from "../ui/time.ts";

const TICK_MS = 1_000;

interface Props {
  readonly runId: string;
  readonly node: NodeView;
  /** The config of the node as JSON text. */
  readonly config: string;
}

/** Draws the form while the node waits. */
export function SignalForm({ runId, node, config }: Props): ReactNode {
  const field = useMemo(() => readField(schemaIn(parseJson(config))), [config]);
  const [draft, setDraft] = useState<Draft>(() => initialDraft(field));
  const [faults, setFaults] = useState<Faults>({});
  const { isBusy, fault, act } = useAction();
  const request = useRef({ payload: "", id: "" });
  const send = (): void => {
    const read = readDraft(field, draft);
    setFaults(read.ok ? {} : read.faults);
    if (!read.ok) return;
    const payloadJson = JSON.stringify(read.value ?? null);
    if (request.current.payload !== payloadJson || request.current.id === "")
      request.current = { payload: payloadJson, id: freshRequestId() };
    const requestId = request.current.id;
    void act(() => writes.runs.signal(runId, node.signal, { payloadJson, requestId })); // never rejects
  };
  return (
    <section className="approval" aria-label="Signal" data-signal={node.signal}>
      <p className="approval-question">
        Waits for signal <code>{node.signal}</code>
      </p>
      <Terms untilMs={node.signalUntil} />
      <form className="answer" noValidate aria-label="Send signal" onSubmit={submitting(send)}>
        <SchemaForm
          field={field}
          draft={draft}
          faults={faults}
          onChange={(key, entered) => setDraft((before) => ({ ...before, [key]: entered }))}
        />
        <FaultBox fault={fault} />
        <div className="dialog-actions">
          <button type="submit" className="primary" disabled={isBusy}>
            {isBusy ? "Sending…" : "Send signal"}
          </button>
        </div>
      </form>
    </section>
  );
}

/** The remaining time. */
function Terms({ untilMs }: { readonly untilMs: number | undefined }): ReactNode {
  const nowMs = useNow(TICK_MS, untilMs !== undefined);
  if (untilMs === undefined) return null;
  return (
    <p className="approval-terms">
      <span title={formatTime(untilMs)}>
        {untilMs > nowMs ? `Waits for ${formatDuration(untilMs - nowMs)} more.` : "Its time is up."}
      </span>
    </p>
  );
}

/** The schema of the payload: of the node, or of its body. */
function schemaIn(config: unknown): unknown {
  if (typeof config !== "object" || config === null) return undefined;
  if ("schema" in config) return config.schema;
  return "body" in config && typeof config.body === "object" && config.body !== null
    ? schemaIn("config" in config.body ? config.body.config : undefined)
    : undefined;
}

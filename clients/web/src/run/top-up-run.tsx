// Raises the budget of a run that paused because its budget was short. The console sends the same request id with the same amounts until the
// server has accepted them. So a repeat after a lost answer is harmless.

import { freshRequestId } from "@pawl/client";
import type { RunView } from "@pawl/core/log/view";
import { type ReactNode, useRef, useState } from "react";
import { useAction } from "../api/action.ts";
import { writes } from "../api/gateway.ts";
import { submitting } from "../ui/browser-hooks.ts";
import { FaultBox } from "../ui/fault-box.tsx";

/** The limits that a user may raise, as the client names them. */
const FIELDS = [
  { meter: "tokens", key: "tokens", label: "Tokens", step: "1" },
  { meter: "costMicros", key: "costUsd", label: "Dollars", step: "any" },
  { meter: "executions", key: "nodeExecutions", label: "Node executions", step: "1" },
] as const;

type Entered = Readonly<Record<string, string>>;

interface Props {
  readonly runId: string;
  readonly budget: NonNullable<RunView["spending"]["budget"]>;
}

export function TopUpRun({ runId, budget }: Props): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [entered, setEntered] = useState<Entered>({});
  const { isBusy, fault, act } = useAction();
  const request = useRef({ amounts: "", id: "" });
  const fields = FIELDS.filter(({ meter }) => budget[meter] !== undefined);
  const topUp = (): Promise<void> =>
    act(async () => {
      const amounts = Object.fromEntries(
        fields.flatMap(({ key }) => {
          const text = entered[key] ?? "";
          return text === "" ? [] : [[key, Number(text)]];
        }),
      );
      const text = JSON.stringify(amounts);
      if (request.current.amounts !== text)
        request.current = { amounts: text, id: freshRequestId() };
      await writes.runs.topUp(runId, amounts, { requestId: request.current.id });
      dialog.current?.close();
    });
  return (
    <>
      <button type="button" className="primary" onClick={() => dialog.current?.showModal()}>
        Top up
      </button>
      <dialog ref={dialog} aria-label="Top up the budget?">
        <form onSubmit={submitting(() => void topUp())}>
          <h2>Top up the budget?</h2>
          <p>The run continues if the new budget covers its next node.</p>
          {fields.map(({ key, label, step }) => (
            <input
              key={key}
              aria-label={label}
              placeholder={`${label} to add`}
              type="number"
              min="0"
              required={fields.length === 1}
              step={step}
              value={entered[key] ?? ""}
              onChange={({ target: { value } }) =>
                setEntered((before) => ({ ...before, [key]: value }))
              }
            />
          ))}
          <FaultBox fault={fault} />
          <div className="dialog-actions">
            <button type="button" className="quiet" onClick={() => dialog.current?.close()}>
              Leave it paused
            </button>
            <button type="submit" className="primary" disabled={isBusy}>
              {isBusy ? "Raising…" : "Top up"}
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}

// Cancels a run after the user confirms.

import type { ReactNode } from "react";
import { useRef, useState } from "react";
import { cancelRun } from "../api/gateway.ts";
import { freshRequestId } from "../api/request-id.ts";
import { readFault } from "../api/fault.ts";
import type { Fault } from "../api/fault.ts";
import { FaultBox } from "../ui/fault-box.tsx";

const REASON_LENGTH_MAX = 200;

/** The cancel button and its question. */
export function CancelRun({ runId }: { readonly runId: string }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const cancel = async (): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      await cancelRun(runId, reason.trim(), freshRequestId());
      dialog.current?.close();
    } catch (error) {
      setFault(readFault(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" className="danger" onClick={() => dialog.current?.showModal()}>
        Cancel run
      </button>
      <dialog ref={dialog} aria-label="Cancel this run?">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void cancel(); // never rejects: a fault is shown
          }}
        >
          <h2>Cancel this run?</h2>
          <p>What runs is aborted, what is pending never starts. This cannot be undone.</p>
          <input
            aria-label="Reason"
            placeholder="Reason, for those who look later (optional)"
            maxLength={REASON_LENGTH_MAX}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
          {fault !== undefined && <FaultBox fault={fault} />}
          <div className="dialog-actions">
            <button type="button" className="quiet" onClick={() => dialog.current?.close()}>
              Keep it running
            </button>
            <button type="submit" className="danger" disabled={busy}>
              {busy ? "Cancelling…" : "Cancel run"}
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}

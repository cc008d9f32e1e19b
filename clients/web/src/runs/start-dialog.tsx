// The workflows that can be started, behind a button: where the page is too narrow to show them beside the runs.

import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import type { ReactNode } from "react";
import { useRef } from "react";
import { StartPanel } from "./start-panel.tsx";

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

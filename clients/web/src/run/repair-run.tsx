// Repairs a finished run: the dialog shows the plan before the button that starts the new run. The button sends the digest of the plan, so
// the gateway starts exactly the plan that is shown, or refuses.

import {
  repairActionName,
  type RepairNode,
  type RepairOptions,
  type RepairPlan,
  usdText,
} from "@pawl/client";
import { type ReactNode, useRef, useState } from "react";
import { useAction } from "../api/action.ts";
import { writes } from "../api/gateway.ts";
import { runPath } from "../route.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { navigate } from "../ui/navigate.tsx";
import { submitting } from "../ui/browser-hooks.ts";

interface Props {
  readonly runId: string;
  /** Whether some nodes did not complete. */
  readonly hasFailures: boolean;
}

/** The request that the dialog makes, its plan, and the start of that plan. A changed request has no plan until the user asks for it. */
function useRepair(runId: string) {
  const [plan, setPlan] = useState<RepairPlan>();
  const [asked, setAsked] = useState(NOTHING_ASKED);
  const { isBusy, fault, setFault, act } = useAction();
  const change = (part: Partial<Asked>): void => {
    setPlan(undefined);
    setFault(undefined);
    setAsked((before) => ({ ...before, ...part }));
  };
  const show = (nodes = asked.nodes): Promise<void> =>
    act(async () => {
      setPlan(undefined);
      setPlan(await writes.runs.planRepair(runId, optionsOf({ ...asked, nodes })));
    });
  const start = (planDigest: string): Promise<void> =>
    act(async () => {
      const { run } = await writes.runs.repair(runId, { ...optionsOf(asked), planDigest });
      navigate(runPath(run.runId));
    });
  return { plan, asked, isBusy, fault, change, show, start };
}

interface Asked {
  readonly nodes: string;
  readonly latest: boolean;
  readonly keepEffects: boolean;
}

const NOTHING_ASKED: Asked = { nodes: "", latest: false, keepEffects: false };

const optionsOf = ({ nodes, latest, keepEffects }: Asked): RepairOptions => ({
  fromNodes: nodes.split(/[\s,]+/).filter(Boolean),
  latest,
  keepEffects,
});

/** The buttons of a finished run. */
export function RepairRun({ runId, hasFailures }: Props): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const repair = useRepair(runId);
  const open = (isRetry: boolean): void => {
    repair.change({ nodes: "" });
    dialog.current?.showModal();
    if (isRetry) void repair.show("");
  };
  return (
    <>
      {hasFailures && (
        <button type="button" onClick={() => open(true)}>
          Retry from failed nodes
        </button>
      )}
      <button type="button" className="quiet" onClick={() => open(false)}>
        Repair…
      </button>
      <dialog ref={dialog} className="repair-dialog" aria-label="Repair this run">
        <RepairForm {...repair} onClose={() => dialog.current?.close()} />
      </dialog>
    </>
  );
}

type FormProps = ReturnType<typeof useRepair> & { readonly onClose: () => void };

function RepairForm(form: FormProps): ReactNode {
  const { plan, asked, isBusy, fault, change, show, start, onClose } = form;
  return (
    <form onSubmit={submitting(() => void show())}>
      <h2>Repair this run</h2>
      <p>
        A new run reuses the results that still hold, and runs the rest. This run stays as it is.
      </p>
      <input
        type="text"
        aria-label="Nodes that run again"
        placeholder="Nodes that run again, besides those that did not complete"
        value={asked.nodes}
        onChange={({ target }) => change({ nodes: target.value })}
      />
      <Check
        label="Use the newest version of the workflow"
        value={asked.latest}
        onChange={(latest) => change({ latest })}
      />
      <Check
        label="Do not repeat effects that happened"
        value={asked.keepEffects}
        onChange={(keepEffects) => change({ keepEffects })}
      />
      <FaultBox fault={fault} />
      {plan !== undefined && <PlanTable plan={plan} />}
      <div className="dialog-actions">
        <button type="button" className="quiet" onClick={onClose}>
          Close
        </button>
        <button type="submit" className={plan === undefined ? "" : "quiet"} disabled={isBusy}>
          {isBusy ? "Working…" : "Show the plan"}
        </button>
        {plan !== undefined && (
          <button type="button" disabled={isBusy} onClick={() => void start(plan.digest)}>
            Start the repaired run
          </button>
        )}
      </div>
    </form>
  );
}

interface CheckProps {
  readonly label: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}

const Check = ({ label, value, onChange }: CheckProps): ReactNode => (
  <label className="check">
    <input type="checkbox" checked={value} onChange={({ target }) => onChange(target.checked)} />
    {label}
  </label>
);

const PlanTable = ({ plan }: { readonly plan: RepairPlan }): ReactNode => (
  <div className="repair-plan" data-repair-plan={plan.digest}>
    <table>
      <thead>
        <tr>
          <th>Node</th>
          <th>Action</th>
          <th>Effects</th>
          <th>Why</th>
        </tr>
      </thead>
      <tbody>
        {plan.nodes.map((node) => (
          <tr key={node.nodeId} data-action={repairActionName(node.action)}>
            <td>{node.nodeId}</td>
            <td>{repairActionName(node.action).replace("_", " ")}</td>
            <td>{effectText(node)}</td>
            <td>{whyText(node)}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <p>{spentText(plan)}</p>
    {plan.warnings.map((warning) => (
      <p key={warning} className="warning">
        {warning}
      </p>
    ))}
  </div>
);

/** What the finished run spent on what runs again: the repair may cost as much. */
function spentText(plan: RepairPlan): string {
  const { inputTokens, outputTokens, costMicros, reservedTokens, reservedCostMicros } = plan;
  const first = amountsText(reservedTokens, reservedCostMicros);
  const more = first === "" ? "" : ` Nodes that did not run before reserve ${first}.`;
  const before = amountsText(inputTokens + outputTokens, costMicros);
  if (before === "") return `What runs again used no model before.${more}`;
  return `What runs again took ${before} before. It may take as much again.${more}`;
}

const amountsText = (tokens: bigint, costMicros: bigint): string =>
  [
    ...(tokens === 0n ? [] : [`${tokens} tokens`]),
    ...(costMicros === 0n ? [] : [usdText(Number(costMicros))]),
  ].join(" and ");

const effectText = ({ effects }: RepairNode): string =>
  effects
    .map(({ effectClass, committed, begun }) => `${committed + begun} ${effectClass}`)
    .join(", ");

const whyText = ({ reason, eventId, change, changedFields }: RepairNode): string => {
  const proof = eventId === 0n ? "" : ` (event ${eventId})`;
  const fields = change === "changed" ? `: ${changedFields.join(", ")}` : "";
  return `${reason}${fields}${proof}`;
};

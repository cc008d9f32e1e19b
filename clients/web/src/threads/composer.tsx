// The box in which a user writes the next turn of a thread. The console repeats a start under the same request id until the gateway has
// accepted it, so a repeat after a lost answer is harmless.

import { freshRequestId, jsonOf, type Multitask, sampleInputOf } from "@pawl/client";
import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { useAction } from "../api/action.ts";
import type { Fault } from "../api/fault.ts";
import { listWorkflows, reads, writes } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { submitting } from "../ui/browser-hooks.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { isJson } from "../ui/json-text.ts";
import { NoWorkflows } from "../runs/start-run.tsx";
import { formOf, inputOf } from "./words.ts";

const STRATEGIES: readonly { readonly id: Multitask; readonly name: string }[] = [
  { id: "enqueue", name: "wait for the run before it" },
  { id: "interrupt", name: "interrupt the run under way" },
  { id: "rollback", name: "roll back the run under way" },
  { id: "reject", name: "refuse this turn" },
];

const NOT_JSON: Fault = {
  reason: "INPUT_INVALID",
  message: "The input is no JSON.",
  next: "This workflow has an input without a text. Write it as JSON.",
  violations: [],
  retryable: false,
};

interface Props {
  readonly threadId: string;
  /** The workflow of the newest turn. "" before the first. */
  readonly lastWorkflowId: string;
  readonly isBusy: boolean;
}

export function Composer(props: Props): ReactNode {
  const { value } = usePoll("workflows", 0, listWorkflows);
  if (value === undefined) return null;
  return value.length === 0 ? <NoWorkflows /> : <Box {...props} workflows={value} />;
}

function Box({
  threadId,
  lastWorkflowId,
  isBusy: isThreadBusy,
  workflows,
}: Props & { readonly workflows: readonly Workflow[] }): ReactNode {
  const [chosen, setChosen] = useState("");
  const [words, setWords] = useState("");
  const [multitask, setMultitask] = useState<Multitask>("enqueue");
  const workflowId = chosen || lastWorkflowId || (workflows[0]?.workflowId ?? "");
  const sample = usePoll(`sample ${workflowId}`, 0, async (signal) => {
    const { definitionJson } = await reads.workflows.get(workflowId, { signal });
    return sampleInputOf(jsonOf(definitionJson)) ?? null;
  });
  const form = formOf(sample.value);
  const { isBusy, fault, setFault, start } = useStart(threadId);
  const isReady = !isBusy && words.trim() !== "" && sample.value !== undefined;
  const send = async (): Promise<void> => {
    if (!isReady) return;
    const inputJson = inputOf(form, words.trim());
    if (!isJson(inputJson)) return setFault(NOT_JSON);
    await start({ workflowId, multitask, inputJson }, () => setWords(""));
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form className="composer" aria-label="Next turn" onSubmit={submitting(() => void send())}>
      <textarea
        aria-label="What to say"
        rows={2}
        placeholder={form.kind === "json" ? "The input as JSON" : "What to say"}
        value={words}
        onChange={({ target }) => setWords(target.value)}
        onKeyDown={form.kind === "json" ? undefined : onKey}
      />
      <div className="composer-actions">
        <Choice
          name="to"
          value={workflowId}
          options={workflows.map(({ workflowId: id, title }) => ({ id, name: title || id }))}
          onChange={setChosen}
        />
        {isThreadBusy && (
          <Choice
            name="and"
            value={multitask}
            options={STRATEGIES}
            onChange={(id) =>
              setMultitask(STRATEGIES.find((each) => each.id === id)?.id ?? "enqueue")
            }
          />
        )}
        <span className="spacer" />
        <button type="submit" className="primary" disabled={!isReady}>
          {isBusy ? "Sending…" : "Send"}
        </button>
      </div>
      <FaultBox fault={fault} />
    </form>
  );
}

interface TurnStart {
  readonly workflowId: string;
  readonly multitask: Multitask;
  readonly inputJson: string;
}

/** Starts turns. The same turn has the same request id until the gateway has accepted it. */
function useStart(threadId: string) {
  const request = useRef({ text: "", id: "" });
  const { isBusy, fault, setFault, act } = useAction();
  const start = (turn: TurnStart, onAccepted: () => void): Promise<void> =>
    act(async () => {
      const text = JSON.stringify(turn);
      if (request.current.text !== text) request.current = { text, id: freshRequestId() };
      const { workflowId, ...options } = turn;
      await writes.runs.start(workflowId, { ...options, threadId, requestId: request.current.id });
      request.current.text = "";
      onAccepted();
    });
  return { isBusy, fault, setFault, start };
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly options: readonly { readonly id: string; readonly name: string }[];
  readonly onChange: (id: string) => void;
}

const Choice = ({ name, value, options, onChange }: ChoiceProps): ReactNode => (
  <label>
    <span>{name}</span>
    <select value={value} onChange={({ target }) => onChange(target.value)}>
      {options.map((each) => (
        <option key={each.id} value={each.id}>
          {each.name}
        </option>
      ))}
    </select>
  </label>
);

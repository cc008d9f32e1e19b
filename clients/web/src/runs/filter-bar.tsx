// The filters above the list of runs. They live in the address; the search box also takes a pasted run id.

import type { ReactNode } from "react";
import { useRef, useState } from "react";
import { runPath, runsPath } from "../route.ts";
import { useKeys } from "../ui/keys.ts";
import { Link } from "../ui/link.tsx";
import { navigate } from "../ui/navigate.ts";
import { isRunId, STATUS_FILTERS } from "./filter.ts";

interface Props {
  readonly status: string;
  readonly workflowId: string;
  readonly workflowIds: readonly string[];
}

/** Status chips and the search box. */
export function FilterBar({ status, workflowId, workflowIds }: Props): ReactNode {
  const box = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(workflowId);
  useKeys({ "/": () => box.current?.focus() });
  const search = (wanted: string): void => {
    const trimmed = wanted.trim();
    if (isRunId(trimmed)) navigate(runPath(trimmed.toLowerCase()));
    else navigate(runsPath({ status, workflowId: trimmed }));
  };
  const onChange = (typed: string): void => {
    setText(typed);
    if (typed === "" || workflowIds.includes(typed)) search(typed);
  };
  return (
    <div className="filters">
      <div className="chips" role="group" aria-label="Status">
        {STATUS_FILTERS.map((filter) => (
          <Link
            key={filter.name}
            to={runsPath({ status: filter.name, workflowId })}
            className="chip"
            current={filter.name === status}
          >
            {filter.label}
          </Link>
        ))}
      </div>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          search(text);
        }}
      >
        <input
          ref={box}
          type="search"
          list="workflow-ids"
          aria-label="Workflow or run id"
          placeholder="Workflow or run id  ( / )"
          value={text}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && box.current?.blur()}
        />
        <datalist id="workflow-ids">
          {workflowIds.map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
      </form>
    </div>
  );
}

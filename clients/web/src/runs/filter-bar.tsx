// The filters above the list of runs. The address holds them. The search box finds a workflow by the beginning of its id or of words of its
// title. It finds a run by the beginning of its id, or by the short id. It also takes a filter; the list shows where a filter has a fault.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { runPath, runsPath } from "../route.ts";
import { useKeys } from "../ui/browser-hooks.ts";
import { Link, navigate } from "../ui/navigate.tsx";
import { isRunId, statusFilter, STATUS_FILTERS } from "./filter.ts";

interface Props {
  readonly status: string;
  readonly workflowId: string;
  readonly query: string;
}

/** The longest filter. The gateway refuses a longer search for words. */
const QUERY_LENGTH_MAX = 2_000;
/** The search begins when the reader has not typed for this time. */
const TYPING_MS = 250;

export function FilterBar({ status, workflowId, query }: Props): ReactNode {
  const current = statusFilter(status);
  return (
    <div className="filters">
      <div className="chips" role="group" aria-label="Status">
        {STATUS_FILTERS.map((filter) => (
          <Link
            key={filter.name}
            to={runsPath({ status: filter.name, workflowId, query })}
            className="chip"
            current={filter === current}
          >
            {filter.label}
          </Link>
        ))}
        {workflowId !== "" && (
          <Link to={runsPath({ status, query })} className="chip chip-off" current>
            {workflowId} <span aria-hidden="true">✕</span>
            <span className="hidden">: show all workflows</span>
          </Link>
        )}
      </div>
      <SearchBox {...{ status, workflowId, query }} />
    </div>
  );
}

function SearchBox({ status, workflowId, query }: Props): ReactNode {
  const box = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(query);
  /** The query that this box put into the address. Another query came by a link or the back button. */
  const sent = useRef(query);
  useKeys({ "/": () => box.current?.focus() });
  const search = (): void => {
    const wanted = text.trim();
    sent.current = wanted;
    if (isRunId(wanted)) navigate(runPath(wanted.toLowerCase()));
    else navigate(runsPath({ status, workflowId, query: wanted }), "replace");
  };
  const latest = useRef(search);
  latest.current = search;
  useEffect(() => {
    if (text.trim() === query) return undefined;
    const timer = window.setTimeout(() => latest.current(), TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [text, query]);
  useEffect(() => {
    if (query === sent.current) return;
    sent.current = query;
    setText(query);
  }, [query]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <input
        ref={box}
        type="search"
        aria-label="Search by workflow, title or run id"
        placeholder="Workflow, title, run id or filter  ( / )"
        maxLength={QUERY_LENGTH_MAX}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && box.current?.blur()}
      />
    </form>
  );
}

// The filters above the list of runs. They live in the address; the search box finds by the beginning of a workflow's id or of
// words of its title, by the beginning of a run's id, and by the short id that the list prints.

import type { ReactNode } from "react";
import { useEffect, useRef, useState } from "react";
import { runPath, runsPath } from "../route.ts";
import { useKeys } from "../ui/keys.ts";
import { Link } from "../ui/link.tsx";
import { navigate } from "../ui/navigate.ts";
import { isRunId, STATUS_FILTERS, statusFilter } from "./filter.ts";

interface Props {
  readonly status: string;
  readonly workflowId: string;
  readonly query: string;
}

const QUERY_LENGTH_MAX = 200;
/** The search begins when the reader stops typing for so long. */
const TYPING_MS = 250;

/** Status chips and the search box. */
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
  /** What this box has put into the address; anything else there came by a link or the way back. */
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
        placeholder="Workflow, title or run id  ( / )"
        maxLength={QUERY_LENGTH_MAX}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && box.current?.blur()}
      />
    </form>
  );
}

// The input and the output of the run.

import type { ReactNode } from "react";
import { CodeBlock } from "../ui/code-block.tsx";
import { prettyJson } from "../ui/json-text.ts";
import type { RunView } from "@pawl/core/log/view";

function emptyWord({ status, endedAt }: RunView): string {
  if (endedAt === undefined) return "Comes when the run completes.";
  return status === "completed" ? "The run gave no output." : "None: the run did not complete.";
}

/** The input, and after the end of the run its output or the reason why there is none. */
export function RunResult({ view }: { readonly view: RunView }): ReactNode {
  const hasOutput = view.output !== undefined && view.output !== "";
  return (
    <div className="result">
      <section className="panel" aria-label="Input">
        <h2>Input</h2>
        <CodeBlock text={prettyJson(view.input)} what="input" empty="No input was given." />
      </section>
      <section className="panel" aria-label="Output">
        <h2>Output</h2>
        <CodeBlock
          text={hasOutput ? prettyJson(view.output ?? "") : ""}
          what="output"
          empty={emptyWord(view)}
        />
      </section>
    </div>
  );
}

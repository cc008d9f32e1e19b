// What the runs of a workflow used of its budget of the present day, and of the days before. Nothing if it has no daily budget.

import { dayMeters, type DayMeter, usdText } from "@pawl/client";
import type { DailyBudget } from "@pawl/proto/pawl/v1/workflow_pb";
import type { ReactNode } from "react";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { Cell, TableHead } from "../ui/text-block.tsx";
import { formatTime, wireMs } from "../ui/time.ts";

const EVERY_MS = 5_000;
/** The days that the card shows. */
const DAYS = 7;

export function DailyBudgets({ workflowId }: { readonly workflowId: string }): ReactNode {
  const { value, fault } = usePoll(workflowId, EVERY_MS, (signal) =>
    reads.workflows.dailyBudgets({ workflowId, pageSize: DAYS, signal }),
  );
  const [newest, ...older] = value?.dailyBudgets ?? [];
  if (newest === undefined) return <FaultBox fault={fault} />;
  const resetsAt = wireMs(newest.resetTime);
  return (
    <section className="panel" aria-label="Daily budget">
      <h2>Daily budget</h2>
      <FaultBox fault={fault} />
      <table className="list-table">
        <TableHead
          names={["Day", "Of", "Used", "Reserved", "Limit"]}
          numbers={["Used", "Reserved", "Limit"]}
          hidden="Share"
        />
        <tbody>{[newest, ...older].flatMap(rowsOf)}</tbody>
      </table>
      {resetsAt !== undefined && (
        <p className="list-note">
          Days are in UTC. The budget of {newest.day} resets at {formatTime(resetsAt)}.
        </p>
      )}
    </section>
  );
}

const rowsOf = (day: DailyBudget): readonly ReactNode[] =>
  dayMeters(day).map((row) => (
    <tr key={`${day.day} ${row.meter}`} data-day={day.day} data-meter={row.meter}>
      <Cell name="day">{day.day}</Cell>
      <Cell name="of">{row.words}</Cell>
      <Cell name="used" isNumber>
        {textOf(row, row.used)}
      </Cell>
      <Cell name="reserved" isNumber>
        {textOf(row, row.reserved)}
      </Cell>
      <Cell name="limit" isNumber>
        {row.limit === undefined ? "none" : textOf(row, row.limit)}
      </Cell>
      <td>
        {row.limit !== undefined && (
          <meter
            min={0}
            max={row.limit}
            value={row.used + row.reserved}
            aria-label={`Used and reserved of the ${row.words} of ${day.day}`}
          />
        )}
      </td>
    </tr>
  ));

const textOf = ({ meter }: DayMeter, amount: number): string =>
  meter === "costMicros" ? usdText(amount) : String(amount);

// Forgets a schedule; the runs that it started stay.

import type { Statement } from "../../db/sql.ts";

export const deleteSchedule: Statement = {
  name: "pawl_delete_schedule",
  text: `
delete from schedules
where tenant_id = $1::text
  and schedule_id = $2::text
`,
};

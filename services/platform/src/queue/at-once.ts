// When a job without a delay may be taken: at once, and always. pg-boss would write the present time, and a database whose clock then
// steps back would hide the job until its clock is there again. So such a job is due since long before it was made. Not since the
// epoch: pg-boss deletes a job when its retention has passed since it was due.

/** How far before its making a job without a delay is due, as an interval of PostgreSQL. */
export const AT_ONCE = "-365 days";

/** A job due since less than this had a delay. */
export const NEVER_LATER = "180 days";

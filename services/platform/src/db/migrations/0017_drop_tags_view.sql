-- The gateway makes tags from the events by the event table of core, so the view that said the same in SQL goes.
drop view execution_tags;

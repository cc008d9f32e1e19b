-- The gateway makes tags from the events, by the event table of core. So nothing needs the view any more.
drop view execution_tags;

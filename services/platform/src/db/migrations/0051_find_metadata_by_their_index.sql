-- The connections of Pawl plan once for all values. Such a plan knows no rare value, so it walked the threads and the assistants of a tenant in
-- order of id. These functions plan for the value that the user asked for: a rare one is found by the index of the metadata.
alter function pawl_threads_with(text, text[], jsonb, text, integer) set plan_cache_mode to force_custom_plan;

alter function pawl_assistants_with(text, text, jsonb, text, integer) set plan_cache_mode to force_custom_plan;

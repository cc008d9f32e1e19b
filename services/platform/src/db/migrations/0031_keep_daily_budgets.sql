-- Daily budgets: what the runs of a workflow have reserved and used on a day, if the workflow limits it. A workflow without such a limit has no
-- row. The transaction that begins a run reserves, and the one that ends it settles.
create table day_budgets (
  tenant_id text not null,
  workflow_id text not null,
  day date not null,
  tokens_reserved bigint not null default 0,
  tokens_spent bigint not null default 0,
  cost_reserved bigint not null default 0,
  cost_spent bigint not null default 0,
  executions_reserved bigint not null default 0,
  executions_spent bigint not null default 0,
  primary key (tenant_id, workflow_id, day)
);

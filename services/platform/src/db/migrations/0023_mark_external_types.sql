-- Whether the outputs of a node type are data from outside that is not trusted.
alter table node_types add column external boolean not null default false;

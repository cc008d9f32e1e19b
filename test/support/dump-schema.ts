// Prints the contents of a migrated database, in one order and one spelling, so that two dumps can be compared line by line.

import { Client } from "pg";

const HEADER = `-- The schema that the migrations make of an empty database. A test writes this file (UPDATE_SCHEMA=1). Do not edit it.`;

const COLUMNS = `
select c.relname as table_name,
  format('  %s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then ' not null' else '' end,
    case when d.oid is null then '' else ' default ' || pg_get_expr(d.adbin, d.adrelid) end) as line
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname, a.attnum`;

// Not-null constraints are printed with their columns; those of partitions come from their parent.
const CONSTRAINTS = `
select c.relname as table_name, format('  constraint %s %s', k.conname, pg_get_constraintdef(k.oid)) as line
from pg_constraint k
join pg_class c on c.oid = k.conrelid
where c.relnamespace = $1::regnamespace and not c.relispartition and k.contype <> 'n'
order by c.relname, k.conname`;

const TABLES = `
select c.relname as table_name,
  concat(
    case when c.relkind = 'p' then ' partition by ' || pg_get_partkeydef(c.oid) end,
    case when c.reloptions is not null then format(' with (%s)', array_to_string(c.reloptions, ', ')) end) as line
from pg_class c
where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname`;

const PARTITIONS = `
select p.relname as table_name,
  format('create table %s partition of %s %s;', c.relname, p.relname, pg_get_expr(c.relpartbound, c.oid)) as line
from pg_class c
join pg_inherits i on i.inhrelid = c.oid
join pg_class p on p.oid = i.inhparent
where c.relnamespace = $1::regnamespace and c.relkind = 'r'
order by c.relname`;

const INDEXES = `
select t.relname as table_name, pg_get_indexdef(i.indexrelid) || ';' as line
from pg_index i
join pg_class t on t.oid = i.indrelid
join pg_class x on x.oid = i.indexrelid
where t.relnamespace = $1::regnamespace and not t.relispartition
  and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
order by t.relname, x.relname`;

const FUNCTIONS = `
select p.proname as table_name, pg_get_functiondef(p.oid) || ';' as line
from pg_proc p
where p.pronamespace = $1::regnamespace
order by p.proname`;

interface Line {
  readonly table_name: string;
  readonly line: string;
}

/** The tables, constraints, indexes, partitions and functions of one schema of a database. */
export async function dumpSchema(url: string, schema: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // With the schema on the path, definitions name its tables without it.
    await client.query(`set search_path = ${schema}`);
    const read = async (text: string): Promise<Map<string, string[]>> => {
      const { rows } = await client.query<Line>(text, [schema]);
      const byTable = Map.groupBy(rows, (row) => row.table_name);
      return new Map([...byTable].map(([table, lines]) => [table, lines.map((row) => row.line)]));
    };
    const [columns, constraints] = [await read(COLUMNS), await read(CONSTRAINTS)];
    const [partitions, indexes] = [await read(PARTITIONS), await read(INDEXES)];
    const tables = [...(await read(TABLES))].map(([table, tails]) => {
      const body = [...(columns.get(table) ?? []), ...(constraints.get(table) ?? [])].join(",\n");
      const create = `create table ${table} (\n${body}\n)${tails.join("")};`;
      return [create, ...(partitions.get(table) ?? []), ...(indexes.get(table) ?? [])].join("\n");
    });
    const functions = [...(await read(FUNCTIONS)).values()].flat();
    return `${[HEADER, ...tables, ...functions].join("\n\n")}\n`;
  } finally {
    await client.end();
  }
}

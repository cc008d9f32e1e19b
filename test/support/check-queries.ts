// In every test, compares the values and rows of queries with their declarations.

import { checkQueries } from "@pawl/platform/db/query";

checkQueries();

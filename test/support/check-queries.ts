// In every test, the values and rows of queries are compared with their declarations.

import { checkQueries } from "@pawl/platform/db/query";

checkQueries();

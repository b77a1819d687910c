import { indexSuite } from './index.suite.ts';
import { openSqliteIndex } from './sqlite-index.ts';

indexSuite('the local index in SQLite', { open: () => openSqliteIndex(':memory:') });

// PostgreSQL with pgvector, as WebAssembly (PGlite), at a port: `node pgvector-server.mjs <port> <folder>`. Debian 12 has
// no package of pgvector. All connections are one session, so only one may be used at a time.
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

const [port, folder] = process.argv.slice(2);
const db = await PGlite.create(folder, { extensions: { vector } });
await new PGLiteSocketServer({ db, host: '127.0.0.1', port: Number(port), maxConnections: 2 }).start();

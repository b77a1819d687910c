// Generates the types for each OpenAPI document in a folder: `reader.json` becomes `reader.mts`. A field with a default
// may be omitted in a request.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

const [folder] = process.argv.slice(2);
for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
  const types = await openapiTS(readFileSync(path.join(folder, name), 'utf8'), { defaultNonNullable: false });
  writeFileSync(path.join(folder, name.replace(/\.json$/, '.mts')), astToString(types));
}

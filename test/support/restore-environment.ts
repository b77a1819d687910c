/**
 * Undoes changes of the environment after each file, because later files may run in the same process: a server sets its
 * folder for temporary files in the environment of its process.
 */
import { afterAll } from 'vitest';

const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

/** The program file, which is built once for all tests of a run. */
import { inject } from 'vitest';

export async function programFile(): Promise<string> {
  const answer = await fetch(`${inject('services')}/program`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}
